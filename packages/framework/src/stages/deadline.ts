import { ApiError, quote } from "@virtual-workspaces/apimachinery";
import { closeBehindAnswer } from "../listener/unread.ts";
import { respondStatus } from "../encode/respond.ts";
import type { Exchange } from "../exchange.ts";
import { delayOf } from "../util/numbers.ts";

/**
 * Bounds how long a request may take (Kubernetes' request timeout), to less if the client says so by `timeout`: from
 * before it is known who asks, so that no hook holds it for ever. What has begun to be written may finish, and what is
 * long-running only has to begin.
 *
 * @throws ApiError 400 on a `timeout` that is no duration
 */
export function deadline(exchange: Exchange): void {
  const { res, core } = exchange;
  const allowed = allowedTime(exchange, core.deadline);
  const timer = setTimeout(() => {
    if (res.headersSent || res.destroyed) return;
    closeBehindAnswer(exchange.req, res);
    const error = ApiError.timeout(`the request did not finish within ${allowed / 1000} s`, 0);
    exchange.expire(error);
    respondStatus(res, error);
  }, delayOf(allowed));
  timer.unref();
  exchange.deadline = timer;
  res.once("close", () => clearTimeout(timer));
}

/** Lifts it for what is served as long as the client likes. */
export function liftDeadline({ deadline: timer, info, mounted }: Exchange): void {
  if (info.longRunning || mounted.rawTail) clearTimeout(timer);
}

function allowedTime({ search, query, unknown }: Exchange, most: number): number {
  if (unknown !== undefined) return most;
  const text = search.includes("timeout=") ? (query.get("timeout") ?? "") : "";
  if (text === "") return most;
  const asked = parseDuration(text);
  if (asked === undefined) {
    const shown = text.length > SHOWN ? `${quote(text.slice(0, SHOWN))}…` : quote(text);
    throw ApiError.badRequest(
      `invalid timeout specified in the request URL - ${shown} is no duration like 30s or 1m30s`,
    );
  }
  return asked > 0 ? Math.min(asked, most) : most;
}

/** How much of what is no duration is told back, characters. */
const SHOWN = 40;

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 36e5,
};

/** Digits can be read in one way only: of a long text that is no duration, that is told in linear time. */
const DURATION = /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;

/** A duration as Go writes it, in ms. */
function parseDuration(text: string): number | undefined {
  const unsigned = text.replace(/^[+-]/, "");
  if (unsigned === "0") return 0;
  if (!DURATION.test(unsigned)) return undefined;
  let sum = 0;
  for (const [, amount = "", unit = ""] of unsigned.matchAll(/([\d.]+)([^\d.]+)/g))
    sum += Number(amount) * (UNITS[unit] ?? 0);
  return text.startsWith("-") ? -sum : sum;
}
