/** A real OpenSSH server on a free port, for the user who runs the tests. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A running server and what its clients need. */
export interface SshServer {
  /** Puts an absolute path behind user, host and port. */
  readonly url: (path: string) => string;
  /** Private key that is let in. */
  readonly privateKey: string;
  /** Line for known_hosts. */
  readonly knownHosts: string;
}

/** Where servers put it. */
const SSHD = ['/usr/sbin/sshd', '/usr/local/sbin/sshd', '/opt/homebrew/sbin/sshd'].find((path) => existsSync(path));

/** Path of the server program; undefined when there is none. */
export const sshd = (): string | undefined => SSHD;

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

const newKey = (path: string): void => {
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'test', '-f', path]);
};

/** Starts it; it ends with the test. */
export const startSshServer = async (context: TestContext, folder: string): Promise<SshServer> => {
  mkdirSync(folder, { recursive: true });
  const [host, client] = [join(folder, 'host'), join(folder, 'client')];
  newKey(host);
  newKey(client);
  const port = await freePort();
  const config = join(folder, 'sshd_config');
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${host}`,
    `AuthorizedKeysFile ${client}.pub`,
    'StrictModes no',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PidFile none',
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const child = spawn(sshd() ?? 'sshd', ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let words = '';
  child.stderr.on('data', (text: Buffer) => {
    words += text.toString();
  });
  context.after(() => child.kill('SIGKILL'));
  for (let tries = 0; !(await listens(port)); tries += 1) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`sshd did not start: ${words}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [type = '', key = ''] = readFileSync(`${host}.pub`, 'utf8').split(' ');
  return {
    url: (path) => `ssh://${userInfo().username}@127.0.0.1:${port}${path}`,
    privateKey: readFileSync(client, 'utf8'),
    knownHosts: `[127.0.0.1]:${port} ${type} ${key}`,
  };
};
