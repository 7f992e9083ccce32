import { parentPort } from "node:worker_threads";

/** What a worker says: that its module is loaded, then one word for each message. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "reply"; readonly reply: unknown }
  | { readonly type: "error"; readonly error: unknown };

/**
 * The other end of a {@link WorkerPool}: the last statement of a worker's module. `answer` is given one message at a time;
 * what it throws arrives as the cause of a `failed` {@link WorkerError}, so foreseen failures are better returned.
 */
export function answerMessages<Message, Reply>(answer: (message: Message) => Reply): void {
  const port = parentPort;
  if (port === null) throw new Error("this module runs in a worker thread only");
  const say = (word: FromWorker): void => port.postMessage(word);
  port.on("message", (message: Message) => {
    try {
      say({ type: "reply", reply: answer(message) });
    } catch (error) {
      say({ type: "error", error: error instanceof Error ? new Error(error.message) : String(error) });
    }
  });
  say({ type: "ready" });
}
