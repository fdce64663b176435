/**
 * Reads objects through one long-lived `git cat-file --batch-command`. It sees what is written later, loose or packed, and never fetches: the mirror's
 * own configuration names no promisor remote, so an object that is not there is simply missing.
 */
import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../ports/clock.ts';
import type { GitRunner } from './process.ts';
import { mirrorGone } from './process.ts';

/** The answer to one question. */
export type ReadAnswer =
  | { readonly answer: 'object'; readonly oid: string; readonly type: string; readonly size: number; readonly body: Buffer }
  | { readonly answer: 'missing' }
  /** Git complained about the object, or died of it. */
  | { readonly answer: 'damaged'; readonly words: string }
  /** There is no process that could be asked; the object may be well. */
  | { readonly answer: 'unavailable'; readonly words: string };

interface Question {
  readonly line: string;
  readonly contents: boolean;
  readonly answer: (answer: ReadAnswer) => void;
  tries: number;
}

/** Keeps the number of reading processes of all mirrors in bounds. */
export class ReaderPool {
  readonly #limit: number;
  readonly #running = new Set<ObjectReader>();

  /** At most this many, as long as not all of them are at work. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** A reader has started its process; the one that started longest ago and has nothing to do gives way. */
  joined(reader: ObjectReader): void {
    this.#running.add(reader);
    if (this.#running.size <= this.#limit) return;
    for (const other of this.#running) {
      if (other === reader || !other.idle) continue;
      void other.stop();
      return;
    }
  }

  /** A reader's process has ended or is about to. */
  left(reader: ObjectReader): void {
    this.#running.delete(reader);
  }
}

/** One reading process for a mirror, started when it is asked and ended when it is idle. */
export class ObjectReader {
  readonly #runner: GitRunner;
  readonly #clock: Clock;
  readonly #gitDirectory: string;
  readonly #idleMs: number;
  readonly #pool: ReaderPool;
  #child: ChildProcess | undefined;
  #waiting: Question[] = [];
  #chunks: Buffer[] = [];
  #size = 0;
  #needed = 0;
  #stderr = '';
  #cancelIdle: () => void = () => undefined;

  constructor(options: { runner: GitRunner; clock: Clock; gitDirectory: string; idleMs: number; pool: ReaderPool }) {
    this.#runner = options.runner;
    this.#clock = options.clock;
    this.#gitDirectory = options.gitDirectory;
    this.#idleMs = options.idleMs;
    this.#pool = options.pool;
  }

  /** Whether nobody waits for an answer. */
  get idle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Type, size and contents of an object; a name such as `refs/x` gives the id as well. */
  contents(name: string): Promise<ReadAnswer> {
    return this.#ask(`contents ${name}\n`, true);
  }

  /** Type, size and id; the body is empty. */
  info(name: string): Promise<ReadAnswer> {
    return this.#ask(`info ${name}\n`, false);
  }

  /** Ends the process; the next question starts another. Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#cancelIdle();
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    this.#pool.left(this);
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin?.end();
    await gone;
  }

  #ask(line: string, contents: boolean): Promise<ReadAnswer> {
    return new Promise((answer) => this.#put({ line, contents, answer, tries: 0 }));
  }

  #put(question: Question): void {
    this.#cancelIdle();
    const child = this.#child ?? this.#start();
    if (typeof child === 'string') {
      question.answer({ answer: child === mirrorGone ? 'damaged' : 'unavailable', words: child });
      return;
    }
    question.tries += 1;
    this.#waiting.push(question);
    child.stdin?.write(question.line);
  }

  #start(): ChildProcess | string {
    const child = this.#runner.start({ gitDirectory: this.#gitDirectory, args: ['cat-file', '--batch-command'] });
    if (typeof child === 'string') return child;
    this.#child = child;
    this.#pool.joined(this);
    this.#forget();
    this.#stderr = '';
    child.stdout?.on('data', (data: Buffer) => {
      if (this.#child === child || this.#waiting.length > 0) this.#take(data);
    });
    child.stderr?.on('data', (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString('utf8')).slice(-4000);
    });
    child.once('close', (_, signal) => this.#died(child, signal === 'SIGKILL' || signal === 'SIGTERM'));
    return child;
  }

  #forget(): void {
    this.#chunks = [];
    this.#size = 0;
    this.#needed = 0;
  }

  /** Chunks are joined only when enough has come, so that a large object is not copied again and again. */
  #take(data: Buffer): void {
    this.#chunks.push(data);
    this.#size += data.length;
    if (this.#size < this.#needed) return;
    let buffer = this.#chunks.length === 1 ? data : Buffer.concat(this.#chunks);
    for (;;) {
      const rest = this.#answerFrom(buffer);
      if (rest === undefined) break;
      buffer = rest;
    }
    this.#chunks = buffer.length === 0 ? [] : [buffer];
    this.#size = buffer.length;
    if (this.#waiting.length === 0) this.#idle();
  }

  /** Answers the oldest question; what is left over, or undefined when more is needed. */
  #answerFrom(buffer: Buffer): Buffer | undefined {
    this.#needed = 0;
    const question = this.#waiting[0];
    const end = buffer.indexOf(0x0a);
    if (question === undefined || end < 0) return undefined;
    const head = buffer.toString('latin1', 0, end);
    const [, oid, type, digits] = /^([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)$/.exec(head) ?? [];
    if (oid === undefined || type === undefined) {
      this.#waiting.shift();
      question.answer(this.#stderr === '' ? { answer: 'missing' } : { answer: 'damaged', words: this.#stderr });
      this.#stderr = '';
      return buffer.subarray(end + 1);
    }
    const size = Number(digits);
    const total = question.contents ? end + 1 + size + 1 : end + 1;
    if (buffer.length < total) {
      this.#needed = total;
      return undefined;
    }
    this.#waiting.shift();
    const body = question.contents ? buffer.subarray(end + 1, end + 1 + size) : Buffer.alloc(0);
    question.answer({ answer: 'object', oid, type, size, body });
    return buffer.subarray(total);
  }

  /** Every question is asked once more of a new process, except the one that this process died of, if it died twice. */
  #died(child: ChildProcess, killed: boolean): void {
    if (this.#child === child) {
      this.#child = undefined;
      this.#pool.left(this);
    } else if (this.#child !== undefined) return;
    const unanswered = this.#waiting;
    const words = this.#stderr;
    this.#waiting = [];
    this.#forget();
    const [first] = unanswered;
    for (const question of unanswered) {
      if (question === first && question.tries > 1) question.answer(lastAnswer(words, killed));
      else this.#put(question === first ? question : { ...question, tries: 0 });
    }
  }

  #idle(): void {
    this.#cancelIdle();
    this.#cancelIdle = this.#clock.at(this.#clock.now() + this.#idleMs, () => {
      if (this.#waiting.length === 0) void this.stop();
    });
  }
}

function lastAnswer(words: string, killed: boolean): ReadAnswer {
  return killed || words === '' ? { answer: 'unavailable', words: 'the reading process was killed' } : { answer: 'damaged', words };
}
