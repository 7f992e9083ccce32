import { texts } from "../texts.ts";
import { actingProtocols } from "./acting-text.ts";
import { type Parameters, socketUrl } from "./base.ts";
import { asStatusError, StatusError, send } from "./client.ts";
import { backoff, pause, setLost } from "./connection.ts";
import type { KubernetesObject, Status } from "./types.ts";

export interface WatchEvent<T extends KubernetesObject = KubernetesObject> {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: T;
  /** Of query views. */
  readonly query?: { readonly total?: number; readonly resourceVersion?: string };
}

/** Result of a list: the beginning of the watch that continues it. */
interface Listed {
  readonly resourceVersion: string;
  /** Further parameters of the watch. */
  readonly parameters?: Parameters;
}

export interface Watched<T extends KubernetesObject> {
  /** Path of the collection. */
  readonly path: () => string;
  readonly parameters: () => Parameters;
  /** Lists again. Its errors decide whether the loop tries again. */
  list(stop: AbortSignal): Promise<Listed>;
  onEvent(event: WatchEvent<T>): void;
  /** The watch is open or, with an error, interrupted. */
  onState(state: WatchState): void;
}

export interface WatchState {
  readonly error?: StatusError;
  /** There is no further attempt. */
  readonly isFinal?: boolean;
  /** The list has succeeded: it is shown, but not kept up to date. */
  readonly isListed?: boolean;
}

/** After so many milliseconds a watch counts as one that works: the next attempt after it is fast again. */
const STABLE = 1_000;

/** Lists and watches until the returned function is called: reconnects with backoff, resumes, and lists again after 410. */
export function listAndWatch<T extends KubernetesObject>(source: Watched<T>): () => void {
  const stop = new AbortController();
  void run(source, stop.signal).finally(() => setLost(source, false));
  return () => stop.abort();
}

async function run<T extends KubernetesObject>(source: Watched<T>, stop: AbortSignal): Promise<void> {
  let listed: Listed | undefined;
  for (let failures = 0; !stop.aborted; ) {
    try {
      listed ??= await source.list(stop);
      const began = performance.now();
      const end = await watchOnce(source, listed, {
        stop,
        onOpen: () => {
          setLost(source, false);
          source.onState({});
        },
      });
      if (stop.aborted) return;
      listed = end.isExpired ? undefined : { ...listed, resourceVersion: end.resourceVersion };
      if (end.error !== undefined) throw end.error;
      if (!end.wasOpen) await explainFailure(source, listed, stop);
      const lasted = performance.now() - began;
      if (lasted > STABLE) failures = 0;
      if (end.wasClean && lasted > STABLE) continue;
    } catch (cause) {
      if (stop.aborted) return;
      const error = asStatusError(cause);
      if (error.code === 410) {
        // Rights over all workspaces change with every new workspace: not one list after the other.
        listed = undefined;
        failures += 1;
        await pause(Math.min(backoff(failures), 5_000), stop);
        continue;
      }
      setLost(source, error.code === 0);
      source.onState({ error, isFinal: !error.isTransient, isListed: listed !== undefined });
      if (!error.isTransient) return;
      const { retryAfterSeconds = 0 } = error.status.details ?? {};
      await pause(retryAfterSeconds * 1_000, stop);
    }
    failures += 1;
    await pause(backoff(failures), stop);
  }
}

interface WatchEnd {
  readonly wasOpen: boolean;
  /** The server ended the watch as it does after some time: go on at once. */
  readonly wasClean: boolean;
  readonly isExpired: boolean;
  readonly resourceVersion: string;
  readonly error?: StatusError;
}

function watchOnce<T extends KubernetesObject>(
  source: Watched<T>,
  listed: Listed,
  { stop, onOpen }: { readonly stop: AbortSignal; readonly onOpen: () => void },
): Promise<WatchEnd> {
  return new Promise((resolve) => {
    let [resourceVersion, wasOpen, isExpired] = [listed.resourceVersion, false, false];
    let error: StatusError | undefined;
    const url = socketUrl(source.path(), watchParameters(source, listed));
    const socket = new WebSocket(url, ["base64.binary.k8s.io", ...actingProtocols()]);
    const close = () => socket.close();
    stop.addEventListener("abort", close);
    socket.onopen = () => {
      wasOpen = true;
      onOpen();
    };
    socket.onmessage = ({ data }) => {
      if (stop.aborted) return;
      const event = JSON.parse(String(data)) as WatchEvent<T>;
      if (event.type === "ERROR") {
        const status = event.object as unknown as Status;
        if (status.code === 410) isExpired = true;
        else error = new StatusError(status);
        return;
      }
      resourceVersion = versionOf(event) ?? resourceVersion;
      source.onEvent(event);
    };
    socket.onclose = ({ code }) => {
      stop.removeEventListener("abort", close);
      const wasClean = wasOpen && code === 1000;
      resolve({ wasOpen, wasClean, isExpired, resourceVersion, ...(error !== undefined && { error }) });
      if (!stop.aborted && wasOpen && !wasClean) setLost(source, true);
    };
  });
}

/** Version to resume from: events of a window have one of their own, at the end of each change. */
function versionOf(event: WatchEvent): string | undefined {
  if (event.query === undefined || event.type === "BOOKMARK") return event.object.metadata.resourceVersion;
  return event.query.resourceVersion;
}

function watchParameters<T extends KubernetesObject>(source: Watched<T>, listed: Listed): Parameters {
  const { resourceVersion } = listed;
  return { ...source.parameters(), ...listed.parameters, watch: "true", allowWatchBookmarks: "true", resourceVersion };
}

/** A page does not see why a WebSocket was rejected: the same request over HTTP tells. */
async function explainFailure<T extends KubernetesObject>(
  source: Watched<T>,
  listed: Listed | undefined,
  stop: AbortSignal,
): Promise<void> {
  const since = listed ?? { resourceVersion: "" };
  const parameters = { ...watchParameters(source, since), timeoutSeconds: 1 };
  const answer = await send(source.path(), { parameters, signal: stop });
  await answer.body?.cancel();
  throw new StatusError({ kind: "Status", code: 0, reason: "NoWebSocket", message: texts.errors.noWebSocket });
}
