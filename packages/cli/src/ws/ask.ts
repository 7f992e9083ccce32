import { ApiError, isJsonObject, type JsonObject, parseOwnJson, statusFrom } from "@virtual-workspaces/apimachinery";
import { header } from "@virtual-workspaces/transport";
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
