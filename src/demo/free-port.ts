import { createServer } from 'node:net';

/** The port when nobody listens on it on this machine, else 0, which means any free one. */
export const freePort = (port: number): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(0));
    probe.listen({ host: '127.0.0.1', port }, () => probe.close(() => resolve(port)));
  });
