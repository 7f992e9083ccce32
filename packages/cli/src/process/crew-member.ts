import type { Socket } from "node:net";
import { timerDelay } from "@virtual-workspaces/transport";
import { problemOf } from "./failure.ts";

/** Message to the process, with the connection that it hands over, if any. */
type Receive = (message: object, connection: Socket | undefined) => void;

/** Makes this process a worker of a crew: it ends with its primary process, which alone decides when it stops. Ends without one. */
export function joinCrew(receive: Receive): void {
  if (process.send === undefined) {
    process.stderr.write("virtual-workspaces: a worker is started by its primary process: use --workers\n");
    process.exitCode = 1;
    return;
  }
  // A terminal sends Ctrl-C to the whole process group, but the primary process decides when to stop.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined);
  process.once("disconnect", () => process.exit(1));
  process.on("message", receive);
}

/** Sends a message to the primary process. */
export function tellPrimary(message: object, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, undefined, sent);
}

/** Reports why this worker cannot serve, and ends it. */
export function failWorker(error: unknown): void {
  tellPrimary({ type: "failed", problem: problemOf(error) }, () => process.exit(1));
}

/** Ends this process after `patience`, ms, if it has not ended before. */
export function endWithin(patience: number): void {
  setTimeout(() => process.exit(1), timerDelay(patience)).unref();
}
