import { ApiError, isApiError, isJsonObject, type JsonObject, statusFrom } from "@virtual-workspaces/apimachinery";
import { parseOwnJson } from "@virtual-workspaces/apimachinery/json";
import { header, isTransportError } from "@virtual-workspaces/transport";
import type { Session } from "./session.ts";

/** What came of a GET, whatever its status. */
export interface Answer {
  readonly status: number;
  /** Where a redirect leads, which nobody has followed. */
  readonly location: string | undefined;
  /** `undefined`: no JSON object. */
  readonly body: JsonObject | undefined;
}

/** A GET of this server, as the session's user. @throws TransportError when there is no answer */
export async function ask(session: Session, path: string, accept = "application/json"): Promise<Answer> {
  const { headers, signal } = session.calling;
  const request = { path, headers: ["Accept", accept, ...headers], ...(signal && { signal }) };
  const answer = await session.upstream.send(request);
  const location = header(answer.headers, "location");
  return { status: answer.status, location, body: objectIn(answer.body) };
}

/** What a server says in place of what it was asked for. */
export function refusal(path: string, { status, body }: Answer): ApiError {
  const message = `GET ${path.split("?", 1)[0]}: answered ${status} without a Status`;
  return new ApiError({ ...statusFrom(body ?? {}, { code: status, message }), code: status });
}

function objectIn(body: Buffer): JsonObject | undefined {
  try {
    const value = parseOwnJson(body.toString("utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a server has said no, or nothing in time: that is about one workspace, and no end of the command. */
export function isRefusal(error: unknown): error is Error {
  return isApiError(error) || isTransportError(error) || (error instanceof Error && error.name === "TimeoutError");
}

/** What one may not see, or what does not answer, is left out. */
export async function known<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** Lets so many work at a time; the others wait, in order. */
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
