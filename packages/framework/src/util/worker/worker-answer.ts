import { parentPort } from "node:worker_threads";

/** Message of a worker: that its module is loaded, then one for each message it receives. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "reply"; readonly reply: unknown }
  | { readonly type: "error"; readonly error: unknown };

/**
 * Worker side of a {@link WorkerPool}, and last statement of a worker's module. `answer` receives one message at a time. Its
 * exceptions arrive as the cause of a `failed` {@link WorkerError}, so it should return foreseen failures instead.
 */
export function answerMessages<Message, Reply>(answer: (message: Message) => Reply): void {
  const port = parentPort;
  if (port === null) throw new Error("run this module in a worker thread");
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
