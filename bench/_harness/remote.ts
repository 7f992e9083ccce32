import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { Commands, own, Question, Reply } from "./commands.ts";

type All<C extends Commands> = C & typeof own;

/** What measures a process needs no more of it. */
export interface Measurable {
  ask(command: "cpu"): Promise<number>;
}

/** A process of bench/_servers, asked by the names and types of its commands. */
export class Remote<C extends Commands> implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listeners = new Map<string, (value: unknown) => void>();
  #asked = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (reply: Reply) => this.#receive(reply));
    child.once("exit", this.#unexpected);
  }

  /** Starts bench/_servers/`name`.ts with the flags of this process and `flags`, and waits until it answers. */
  static async start<C extends Commands>(name: string, flags: readonly string[] = []): Promise<Remote<C>> {
    const file = new URL(`../_servers/${name}.ts`, import.meta.url);
    const child = fork(file, { execArgv: [...process.execArgv, ...flags], serialization: "advanced" });
    const remote = new Remote<C>(child);
    await new Promise((resolve) => remote.on("ready", resolve));
    return remote;
  }

  async ask<Name extends keyof All<C> & string>(
    command: Name,
    ...[argument]: Parameters<All<C>[Name]>
  ): Promise<Awaited<ReturnType<All<C>[Name]>>> {
    const id = ++this.#asked;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, command, argument } satisfies Question);
    return (await waiting.promise) as Awaited<ReturnType<All<C>[Name]>>;
  }

  /** Hears of what the process tells by itself; one listener for each event. */
  on(event: string, listener: (value: unknown) => void): void {
    this.#listeners.set(event, listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.off("exit", this.#unexpected);
    this.#child.disconnect(); // it exits by itself, and writes a profile if it was told to
    await ended;
  }

  #receive(reply: Reply): void {
    if ("event" in reply) {
      this.#listeners.get(reply.event)?.(reply.value);
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if ("error" in reply) waiting?.reject(new Error(reply.error));
    else waiting?.resolve(reply.value);
  }

  /** Nobody may wait for it any more: the bench ends with its process. */
  readonly #unexpected = (code: number | null, signal: string | null): void => {
    throw new Error(`a process of the bench ended before its time (${signal ?? code})`);
  };
}
