/** The log port over pino: one JSON object a line. */
import { type DestinationStream, destination, pino } from 'pino';
import type { Log } from '../ports/log.ts';

/** How the log is written. */
export interface PinoLogOptions {
  /** `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`; `info` when absent. */
  readonly level?: string;
  /** Standard error when absent, so that standard output stays free for results. */
  readonly stream?: DestinationStream;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Makes a log; a level that does not exist counts as `info`. Lines are written synchronously: none is lost when the process is killed. */
export const createPinoLog = (options: PinoLogOptions = {}): Log => {
  const level = LEVELS.includes(options.level ?? '') ? options.level : 'info';
  const logger = pino(
    { level: level ?? 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (label) => ({ level: label }) } },
    options.stream ?? destination({ fd: 2, sync: true }),
  );
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
  };
};
