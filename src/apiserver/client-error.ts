/** Answers to what never becomes a request to the resource API: broken HTTP, too large headers, requests that do not arrive. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { badRequest, type Refusal, statusBody } from './refusal.ts';

const REFUSALS: ReadonlyMap<string, Refusal> = new Map([
  ['HPE_HEADER_OVERFLOW', { code: 431, reason: 'RequestHeaderFieldsTooLarge', message: 'the headers of the request are too large' }],
  ['ERR_HTTP_REQUEST_TIMEOUT', { code: 408, reason: 'Timeout', message: 'the request did not arrive in time' }],
]);

/** Milliseconds after which a connection that has its answer is given up. */
const LINGER = 2000;

/** Writes a Status where somebody may still read it, and ends the connection. */
export const answerClientError = (error: { readonly code?: string }, socket: Socket): void => {
  // What comes after the answer is as broken as what came before.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = REFUSALS.get(error.code ?? '') ?? badRequest('the request is malformed');
  const body = JSON.stringify(statusBody(refusal));
  const head = `HTTP/1.1 ${refusal.code} ${STATUS_CODES[refusal.code] ?? ''}\r\nContent-Type: application/json\r\n`;
  socket.end(`${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`);
  // Ended with input that nobody has read, the connection would be reset and the answer lost.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER).unref();
};
