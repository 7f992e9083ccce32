import { ApiError, isJsonObject, type JsonObject, parseOwnJson, type Status } from "@virtual-workspaces/apimachinery";
import {
  header,
  type Outgoing,
  type StreamedResponse,
  type Upstream,
  type WholeResponse,
} from "@virtual-workspaces/transport";

export interface RequestsOptions {
  readonly upstream: Upstream;
  /** `/clusters/<path>` or "". */
  readonly prefix: string;
  /** Sent with every request. */
  readonly headers: readonly string[];
  readonly onWarning: ((text: string) => void) | undefined;
}

/** Requests of one client: JSON there and back, and errors as {@link ApiError}. */
export class Requests {
  readonly #options: RequestsOptions;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** @throws ApiError what the server answered, TransportError when it did not */
  async json(request: Outgoing): Promise<JsonObject> {
    const answer = await this.#options.upstream.send(this.#complete(request));
    if (answer.status >= 300) throw errorOf(answer);
    const body = parseOwnJson(answer.body.toString("utf8"));
    if (!isJsonObject(body)) throw new Error(`${request.path}: the answer is no JSON object`);
    return body;
  }

  /** @throws as {@link json} */
  async stream(request: Outgoing): Promise<StreamedResponse> {
    const { upstream } = this.#options;
    const answer = await upstream.stream(this.#complete({ ...request, long: true }));
    if (answer.status < 300) return answer;
    const pieces: Buffer[] = [];
    for await (const piece of answer.body) pieces.push(piece);
    throw errorOf({ ...answer, body: Buffer.concat(pieces) });
  }

  #complete(request: Outgoing): Outgoing {
    const { prefix, headers } = this.#options;
    return {
      ...request,
      path: prefix + request.path,
      headers: ["Accept", "application/json", ...headers, ...(request.headers ?? [])],
    };
  }
}

function errorOf(answer: WholeResponse): ApiError {
  return new ApiError(withRetryAfter(statusOf(answer), header(answer.headers, "retry-after")));
}

/** What only the header says, such as a proxy's, is told where the Status has its place for it. */
function withRetryAfter(status: Status, seconds: string | undefined): Status {
  if (seconds === undefined || !/^\d{1,9}$/.test(seconds) || status.details?.retryAfterSeconds !== undefined)
    return status;
  return { ...status, details: { ...status.details, retryAfterSeconds: Number(seconds) } };
}

function statusOf({ status, body }: WholeResponse): Status {
  try {
    const parsed = parseOwnJson(body.toString("utf8"));
    if (isJsonObject(parsed) && parsed["kind"] === "Status") return parsed as unknown as Status;
  } catch {
    // What is no Status is told by its code.
  }
  const message = `the server answered ${status}`;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code: status };
}
