import { ApiError, isApiError, type JsonObject, statusFrom } from "@virtual-workspaces/apimachinery";
import { header, isTransportError } from "@virtual-workspaces/transport";
import { objectIn } from "../../process/json-object.ts";
import type { Session } from "./session.ts";

/** Answer to a GET, with any status. */
export interface Answer {
  readonly status: number;
  /** Location of a redirect, which is not followed. */
  readonly location: string | undefined;
  /** Body; `undefined` if it is not a JSON object. */
  readonly body: JsonObject | undefined;
}

/** Sends a GET to the server as the session's user. @throws TransportError without an answer */
export async function ask(session: Session, path: string, accept = "application/json"): Promise<Answer> {
  const { headers, signal } = session.calling;
  const request = { path, headers: ["Accept", accept, ...headers], ...(signal && { signal }) };
  const answer = await session.upstream.send(request);
  const location = header(answer.headers, "location");
  return { status: answer.status, location, body: objectIn(answer.body.toString("utf8")) };
}

/** Turns an unexpected answer into an error. */
export function refusal(path: string, { status, body }: Answer): ApiError {
  const message = `GET ${path.split("?", 1)[0]}: answered ${status} without a Status`;
  return new ApiError({ ...statusFrom(body ?? {}, { code: status, message }), code: status });
}

/** Returns whether a request failed or timed out, which concerns one workspace but not the whole command. */
export function isRefusal(error: unknown): error is Error {
  return isApiError(error) || isTransportError(error) || (error instanceof Error && error.name === "TimeoutError");
}

/** Returns `undefined` for objects that the user may not read, and for servers that do not answer. */
export async function known<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Limits concurrent work. Further work waits, in order. */
export class ConcurrencyLimit {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(most: number) {
    this.#free = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
