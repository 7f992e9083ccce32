import { actingHeaders, actingProtocols } from "../../api/acting-text.ts";
import { apiUrl, type Parameters, socketUrl } from "../../api/base.ts";
import type { Status } from "../../api/types.ts";
import { texts } from "../texts.ts";
import { StepFailure } from "./step.ts";

/** Time limit of a request, and of a watch to send the first state, in milliseconds. */
export const PATIENCE = 15_000;

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Time of the server, in milliseconds since the epoch, to the second; undefined if it does not send it. */
  readonly date: number | undefined;
}

interface Probe {
  readonly signal: AbortSignal;
  readonly parameters?: Parameters;
  readonly accept?: string;
}

/** Sends a GET as the user of the session. An answer with 401 ends no session here: a view behind another server may send it. */
export async function probe(path: string, { signal, parameters, accept = "application/json" }: Probe): Promise<Answer> {
  try {
    const response = await fetch(apiUrl(path, parameters), {
      headers: { Accept: accept, "X-Requested-With": "virtual-workspaces-console", ...actingHeaders() },
      cache: "no-store",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)]),
    });
    const date = Date.parse(response.headers.get("date") ?? "");
    return { status: response.status, text: await response.text(), date: Number.isNaN(date) ? undefined : date };
  } catch {
    throw new StepFailure(texts.run.noAnswer(path), texts.run.noAnswerRemedy);
  }
}

/** The message of a Status, else the beginning of the text. */
export function messageOf({ status, text }: Answer): string {
  const { message } = jsonOf<Status>(text) ?? {};
  return message ?? (text.startsWith("<") || text === "" ? String(status) : text.slice(0, 200).trim());
}

/** The parsed text; undefined if it is no JSON object. */
export function jsonOf<T extends object>(text: string): T | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Result of {@link firstState}. */
export interface FirstState {
  readonly objects: number;
  readonly milliseconds: number;
}

/** Reads the first state of a collection from a watch, up to the bookmark at its end; the message of an error if there is none. */
export function firstState(path: string, signal: AbortSignal): Promise<FirstState | string> {
  const began = performance.now();
  const parameters = {
    ...{ watch: "true", allowWatchBookmarks: "true", sendInitialEvents: "true" },
    resourceVersionMatch: "NotOlderThan",
  };
  return new Promise((resolve) => {
    const socket = new WebSocket(socketUrl(path, parameters), ["base64.binary.k8s.io", ...actingProtocols()]);
    let [objects, isOpen] = [0, false];
    const timer = setTimeout(() => end(""), PATIENCE);
    const stop = () => end("");
    const end = (result: FirstState | string) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      socket.onclose = null;
      socket.close();
      resolve(result);
    };
    signal.addEventListener("abort", stop);
    socket.onopen = () => {
      isOpen = true;
    };
    socket.onmessage = ({ data }) => {
      const { type, object } = JSON.parse(String(data)) as {
        readonly type: string;
        readonly object: Status & { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } };
      };
      if (type === "ERROR") return end(object.message ?? texts.run.ended);
      if (type === "ADDED") objects += 1;
      if (type === "BOOKMARK" && object.metadata?.annotations?.["k8s.io/initial-events-end"] === "true")
        end({ objects, milliseconds: performance.now() - began });
    };
    socket.onclose = () => end(isOpen ? texts.run.ended : texts.run.notOpened);
  });
}
