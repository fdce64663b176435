/** Errors of the HTTP surface: problem details (RFC 9457). */
import { STATUS_CODES } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { RequestProblem } from '../core/bundle-request/artifacts.ts';

/** One refusal. */
export interface Problem {
  readonly status: number;
  /** A sentence. */
  readonly detail: string;
  /** What is wrong where in the request. */
  readonly errors?: readonly RequestProblem[];
  /** Further members of the problem. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The words of a status, such as `Not Found`. */
export const titleOf = (status: number): string => STATUS_CODES[status] ?? 'Error';

/** The bytes of a problem, as `application/problem+json`. */
export const problemBody = (problem: Problem): Buffer =>
  Buffer.from(
    JSON.stringify({
      type: 'about:blank',
      title: titleOf(problem.status),
      status: problem.status,
      detail: problem.detail,
      ...(problem.errors ? { errors: problem.errors } : {}),
      ...problem.more,
    }),
  );

/** Sends a problem as `application/problem+json`. */
export const sendProblem = (reply: FastifyReply, problem: Problem): FastifyReply =>
  reply
    .code(problem.status)
    .headers({ ...problem.headers })
    .header('content-type', 'application/problem+json')
    // Bytes, because a text would get a charset parameter, which this media type does not have.
    .send(problemBody(problem));
