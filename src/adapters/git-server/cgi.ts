/** Runs `git http-backend` for one request: the request's body goes in, the answer's headers and body come out, both as streams. */
import { spawn } from 'node:child_process';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** What the CGI program is told. */
export interface CgiRequest {
  /** Folder of all repositories. */
  readonly root: string;
  /** Path below it, beginning with a slash. */
  readonly path: string;
  readonly query: string;
  readonly user: string;
}

const headerLimit = 64 * 1024;

/** Answers the request; resolves when the answer has been sent or the client is gone. */
export function runBackend(cgi: CgiRequest, request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn('git', ['http-backend'], { env: environment(cgi, request), stdio: ['pipe', 'pipe', 'ignore'], detached: true });
    const end = (): void => {
      if (!response.headersSent) response.writeHead(500);
      response.end();
      resolve();
    };
    child.once('error', end);
    child.once('close', end);
    child.stdin.on('error', () => undefined);
    request.pipe(child.stdin);
    let head = Buffer.alloc(0);
    child.stdout.on('data', (data: Buffer) => {
      if (response.headersSent) {
        send(response, child.stdout, data);
        return;
      }
      head = Buffer.concat([head, data]);
      const split = head.indexOf('\r\n\r\n');
      if (split < 0) {
        if (head.length > headerLimit) child.kill();
        return;
      }
      writeHead(response, head.toString('latin1', 0, split));
      send(response, child.stdout, head.subarray(split + 4));
    });
    // A client that goes away must not leave a push half done in the background.
    response.once('close', () => {
      if (child.exitCode === null && child.pid !== undefined && !response.writableFinished) kill(child.pid);
    });
  });
}

function send(response: ServerResponse, source: { pause(): unknown; resume(): unknown }, data: Buffer): void {
  if (data.length === 0 || response.write(data)) return;
  source.pause();
  response.once('drain', () => source.resume());
}

function kill(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function writeHead(response: ServerResponse, text: string): void {
  const headers: [string, string][] = [];
  let status = 200;
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon < 0) continue;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10) || 500;
    else headers.push([name, value]);
  }
  response.writeHead(status, headers.flat());
}

/** The server's programs see nothing of this process's environment but PATH. */
function environment(cgi: CgiRequest, request: IncomingMessage): Record<string, string> {
  const header = (name: string): string => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : '';
  };
  const settings = [
    ['http.receivepack', 'true'],
    ['uploadpack.allowFilter', 'true'],
    ['uploadpack.allowAnySHA1InWant', 'true'],
    ['receive.autogc', 'false'],
    ['safe.directory', '*'],
  ] as const;
  const variables: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_COUNT: String(settings.length),
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROJECT_ROOT: cgi.root,
    PATH_INFO: cgi.path,
    QUERY_STRING: cgi.query,
    REQUEST_METHOD: request.method ?? 'GET',
    CONTENT_TYPE: header('content-type'),
    REMOTE_USER: cgi.user,
    REMOTE_ADDR: request.socket.remoteAddress ?? '',
    GATEWAY_INTERFACE: 'CGI/1.1',
    SERVER_PROTOCOL: 'HTTP/1.1',
    GIT_PROTOCOL: header('git-protocol'),
  };
  // git unpacks a compressed body by itself; a body of unknown length is read to its end.
  if (header('content-encoding') !== '') variables['HTTP_CONTENT_ENCODING'] = header('content-encoding');
  if (header('content-length') !== '') variables['CONTENT_LENGTH'] = header('content-length');
  settings.forEach(([name, value], index) => {
    variables[`GIT_CONFIG_KEY_${index}`] = name;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return variables;
}
