// Runs a script on the pinned Node: `node scripts/node.mjs FILE [ARGS...]`. Falls back to the running Node when that is new enough.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const names = [`node-${process.platform}-${process.arch}`, `node-bin-${process.platform}-${process.arch}`];
const found = names.map((name) => join(root, 'node_modules', name, 'bin', 'node')).find((path) => existsSync(path));
const [major, minor] = process.versions.node.split('.').map(Number);
const node = found ?? (major > 24 || (major === 24 && minor >= 12) ? process.execPath : undefined);
if (node === undefined) {
  console.error(`No Node 26 is packaged for ${process.platform}-${process.arch}; install Node 24.12 or newer and run this again.`);
  process.exit(1);
}
// What Node has stripped and compiled once is kept for the next start.
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'), ...process.env };
const child = spawn(node, process.argv.slice(2), { stdio: 'inherit', env });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else process.exit(code ?? 1);
});
