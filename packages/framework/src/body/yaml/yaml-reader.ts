import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { BODY_LIMITS, MAX_BODY } from "../../util/limits.ts";
import { siblingModule, WorkerError, WorkerPool, type WorkerPoolOptions } from "../../util/worker/pool.ts";
import { YamlFault } from "./fault.ts";
import type { ParsedYaml } from "./parse.ts";
import type { YamlReply, YamlTask } from "./worker.ts";

export interface YamlReaderOptions extends Partial<Pick<WorkerPoolOptions, "size" | "queue" | "idle" | "heapMiB">> {
  /** The processor's time that a worker may take for one text, ms: enough for a megabyte or two. @default 1000 */
  readonly budget?: number;
}

/** What takes a few milliseconds for each KiB of hostile text, at most. */
const SHORT = 16 * 1024;
/** Values of texts that are read in place may be this many times as large, aliases expanded. */
const EXPANSION = 4;

/** Reads a short text in place, as {@link YamlReader.read} does. @throws YamlFault; ApiError 413 for a long one */
export async function readShortYaml(text: string): Promise<ParsedYaml> {
  if (text.length > SHORT) throw ApiError.requestEntityTooLarge(`the YAML document is longer than ${SHORT}; send JSON`);
  // Loaded when first asked for: clients send JSON.
  const { parseYaml } = await import("./parse.ts");
  return parseYaml(text, EXPANSION * SHORT);
}

/**
 * Reads YAML that strangers send: short texts in place, long ones in a worker thread which is cut when it takes too long.
 * The thread starts when it is first needed and ends when it has been idle; closing the reader ends it at once.
 */
export class YamlReader implements AsyncDisposable {
  readonly #budget: number;
  readonly #pool: WorkerPool<YamlTask, YamlReply>;

  constructor(options: YamlReaderOptions = {}) {
    const { budget = 1000, ...pool } = options;
    this.#budget = budget;
    this.#pool = new WorkerPool({ module: siblingModule("worker", import.meta.url), name: "yaml", ...pool });
  }

  /**
   * The value of one YAML document, and its duplicate keys.
   *
   * @throws YamlFault for what is no YAML
   * @throws ApiError 413 when it is too large, also once its aliases are expanded, or takes too long; 429 when too many
   *   texts wait; 503 when the reader is closed
   */
  async read(text: string, signal?: AbortSignal): Promise<ParsedYaml> {
    try {
      if (text.length <= SHORT) return await readShortYaml(text);
    } catch (error) {
      if (!(error instanceof YamlFault) || !error.tooLarge) throw error;
    }
    return this.#inWorker(text, signal);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pool[Symbol.asyncDispose]();
  }

  async #inWorker(text: string, signal: AbortSignal | undefined): Promise<ParsedYaml> {
    const reply = await this.#ask({ text, maxBytes: MAX_BODY }, signal);
    if ("json" in reply) return { value: jsonOf(reply.json), duplicates: reply.duplicates };
    if (reply.tooLarge) throw ApiError.requestEntityTooLarge(reply.fault);
    throw new YamlFault(reply.fault);
  }

  async #ask(task: YamlTask, signal: AbortSignal | undefined): Promise<YamlReply> {
    try {
      return await this.#pool.run(task, { budget: this.#budget, signal });
    } catch (error) {
      throw error instanceof WorkerError ? this.#refusal(error) : error;
    }
  }

  #refusal(error: WorkerError): Error {
    switch (error.fault) {
      case "busy":
        return ApiError.tooManyRequests("too many YAML documents are waiting to be read; try again, or send JSON", 1);
      case "overrun":
        return ApiError.requestEntityTooLarge(
          `the YAML document takes longer than ${this.#budget} ms to read; send it as JSON`,
        );
      case "failed":
        if (!error.isOutOfMemory) return error;
        return ApiError.requestEntityTooLarge("the YAML document takes too much memory to read; send it as JSON");
      case "ended":
        return ApiError.serviceUnavailable("the server is shutting down; try again", 1);
    }
  }
}

function jsonOf(json: string): unknown {
  try {
    return parseJson(json, BODY_LIMITS).value;
  } catch (error) {
    throw error instanceof RangeError ? ApiError.requestEntityTooLarge(error.message) : error;
  }
}
