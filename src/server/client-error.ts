/** Answers to what never becomes a request: broken HTTP, too large headers, requests that do not arrive. */
import type { Socket } from 'node:net';
import { type Problem, problemBody, titleOf } from './problem.ts';

const PROBLEMS: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'the headers of the request are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'the request did not arrive in time' },
  HPE_INVALID_METHOD: { status: 400, detail: 'the method of the request is not known' },
};
const MALFORMED: Problem = { status: 400, detail: 'the request is malformed' };

/** Milliseconds after which a connection that has its answer is given up. */
const LINGER = 2000;

/** Writes the problem where somebody may still read it, and ends the connection. */
export const answerClientError = (error: { readonly code?: string }, socket: Socket): void => {
  // What comes after the answer is as broken as what came before.
  if (socket.writableEnded) return;
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = (Object.hasOwn(PROBLEMS, error.code ?? '') ? PROBLEMS[error.code ?? ''] : undefined) ?? MALFORMED;
  const body = problemBody(problem);
  const head = `HTTP/1.1 ${problem.status} ${titleOf(problem.status)}\r\nContent-Type: application/problem+json\r\n`;
  socket.end(`${head}Content-Length: ${body.byteLength}\r\nConnection: close\r\n\r\n${body.toString()}`);
  // Ended with input that nobody has read, the connection would be reset and the answer lost.
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER).unref();
};
