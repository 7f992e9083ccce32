import { untilAborted } from "@virtual-workspaces/transport";
import type { AuditedRequest } from "./record.ts";

type End = (...written: unknown[]) => unknown;

/**
 * Delays the end of a response. Meanwhile `writableEnded` is true, as after an `end` of Node's. An upgraded connection has no such end.
 *
 * @param ready called at the end; the response ends once its promise has settled, or the client has left
 */
export function holdEnd({ res, signal, upgradeHead }: AuditedRequest, ready: () => Promise<void> | undefined): void {
  if (upgradeHead !== undefined) return;
  const held = res as unknown as { end: End };
  const { end } = held;
  held.end = (...written) => {
    held.end = end;
    const pending = ready();
    if (pending === undefined) return end.apply(res, written);
    Object.defineProperty(res, "writableEnded", { value: true, configurable: true });
    const finish = (): void => {
      Reflect.deleteProperty(res, "writableEnded");
      if (!res.writableEnded) end.apply(res, written);
    };
    untilAborted(pending, signal).then(finish, finish);
    return res;
  };
}
