/** Addresses to listen on. */

/** A host and a port; port 0 takes any free one. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Takes `host:port`, `[::1]:port`, `:port` (all interfaces) apart; undefined when it is none of them. */
export const parseAddress = (text: string): Address | undefined => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]/\s]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
};

/** Whether only this machine can reach the host. */
export const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
