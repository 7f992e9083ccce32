// Writes to a view of support/views.ts, and their results.
import { expect } from "chai";
import type { Dev } from "./dev.ts";

export const NOTES = "/services/note/clusters/root/apis/test.dev/v1/notes";

function post(dev: Dev, name: string, text = "x"): ReturnType<Dev["send"]> {
  const note = { apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: { text } };
  return dev.send(`POST ${NOTES}`, note);
}

/** Creates a note. @returns the status */
export async function create(dev: Dev, name: string, text?: string): Promise<number> {
  return (await post(dev, name, text)).code;
}

/** Lists the notes. */
export async function list(dev: Dev): Promise<{ readonly version: string; readonly names: readonly string[] }> {
  const { code, body } = await dev.get(NOTES);
  expect(code, body).to.equal(200);
  const { metadata, items } = JSON.parse(body) as {
    readonly metadata: { readonly resourceVersion: string };
    readonly items: readonly { readonly metadata: { readonly name: string } }[];
  };
  return { version: metadata.resourceVersion, names: items.map((item) => item.metadata.name) };
}

/** Clients that create notes continuously until they stop, at the latest at the end of the block. */
export class Writers implements AsyncDisposable {
  /** Number of answers by status; `lost` counts requests without an answer. */
  readonly codes = new Map<number | "lost", number>();
  readonly acknowledged: string[] = [];
  /** Bodies of answers other than 201. */
  readonly refusals: string[] = [];
  readonly #writing: Promise<unknown>;
  readonly #waiting = new Set<() => void>();
  #stopped = false;

  constructor(dev: Dev, count = 3) {
    this.#writing = Promise.all(Array.from({ length: count }, (_, writer) => this.#write(dev, writer)));
  }

  /** Waits until this many more are acknowledged. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged.length + count;
    while (this.acknowledged.length < wanted) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#writing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #write(dev: Dev, writer: number): Promise<void> {
    for (let at = 0; !this.#stopped; at++) {
      const name = `w${writer}-${at}`;
      const { code, body } = await post(dev, name).catch(() => ({ code: "lost" as const, body: "" }));
      this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
      if (code === 201) this.acknowledged.push(name);
      else this.refusals.push(body);
      for (const wake of this.#waiting) wake();
      this.#waiting.clear();
    }
  }
}
