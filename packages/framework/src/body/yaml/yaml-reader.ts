import { ApiError } from "@virtual-workspaces/apimachinery";
import { parseJson } from "@virtual-workspaces/apimachinery/json";
import { BODY_LIMITS, MAX_BODY } from "../../util/limits.ts";
import { siblingModule, WorkerError, WorkerPool, type WorkerPoolOptions } from "../../util/worker/pool.ts";
import { YamlFault } from "./fault.ts";
import type { ParsedYaml } from "./parse.ts";
import type { YamlReply, YamlTask } from "./worker.ts";

export interface YamlReaderOptions extends Partial<Pick<WorkerPoolOptions, "size" | "queue" | "idle" | "heapMiB">> {
  /** CPU time that a worker may use for one document, in ms: enough for one or two megabytes. @default 1000 */
  readonly budget?: number;
}

/** Limit of a short document, in characters. Hostile input takes at most a few milliseconds for each KiB. */
const SHORT = 16 * 1024;
/** Limit of the value's size after alias expansion, as a multiple of the document, in the main thread. */
const EXPANSION = 4;

/** Parses a short document in the main thread. @throws YamlFault; ApiError 413 for a long one */
export async function readShortYaml(text: string): Promise<ParsedYaml> {
  if (text.length > SHORT)
    throw ApiError.requestEntityTooLarge(`the YAML document is longer than ${SHORT} characters: send it as JSON`);
  // Loaded on first use: most clients send JSON.
  const { parseYaml } = await import("./parse.ts");
  return parseYaml(text, EXPANSION * SHORT);
}

/**
 * Parses untrusted YAML: short documents in the main thread, long ones in a worker thread, which is terminated when it takes
 * too long. The thread starts on first use and ends when idle; closing the reader ends it at once.
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
   * Returns the value of one YAML document and its duplicate keys.
   *
   * @throws YamlFault for invalid YAML
   * @throws ApiError 413 when it is too large, also after alias expansion, or takes too long; 429 when too many documents are
   * queued; 503 when the reader is closed
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
        return ApiError.tooManyRequests("too many YAML documents are queued: try again, or send JSON", 1);
      case "overrun":
        return ApiError.requestEntityTooLarge(
          `the YAML document takes longer than ${this.#budget} ms to parse: send it as JSON`,
        );
      case "failed":
        if (!error.isOutOfMemory) return error;
        return ApiError.requestEntityTooLarge("the YAML document takes too much memory to parse: send it as JSON");
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
