import { ApiError } from "@virtual-workspaces/apimachinery";
import { respondStatus } from "../encode/respond.ts";
import type { Exchange } from "../exchange.ts";

/** Bounds how long a request may take (Kubernetes' request timeout). What has begun to be written may finish. */
export function deadline(exchange: Exchange): void {
  if (exchange.info.longRunning || exchange.mounted.rawTail) return;
  const { res, core } = exchange;
  const timer = setTimeout(() => {
    if (res.headersSent || res.destroyed) return;
    const error = ApiError.timeout(`the request did not finish within ${core.deadline / 1000} s`, 0);
    exchange.expire(error);
    respondStatus(res, error);
  }, core.deadline);
  timer.unref();
  res.once("close", () => clearTimeout(timer));
}
