import { ApiError } from "@virtual-workspaces/apimachinery";
import type { ReadyCheck } from "../core.ts";
import { respond } from "../encode/respond.ts";
import type { Exchange } from "../exchange.ts";
import type { Mounted } from "../mounted.ts";

/** `/livez`, `/readyz` and `/readyz/<virtual workspace or check>`: the only answers before authentication besides refusals. */
export function health(exchange: Exchange): void | Promise<void> {
  const { path } = exchange;
  if (path === "/livez") return answer(exchange, [{ name: "ping", ok: true }]);
  if (path !== "/readyz" && !path.startsWith("/readyz/")) return undefined;
  return readyz(exchange, path.slice("/readyz/".length));
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
}

async function readyz(exchange: Exchange, only: string): Promise<void> {
  const { core } = exchange;
  const views = core.matcher.views.filter((view) => only === "" || view.name === only);
  const others = core.checks.filter(([name]) => only === "" || name === only);
  if (only !== "" && views.length + others.length === 0) throw ApiError.notFoundPath();
  const checks = await Promise.all([...views.map(checkOf), ...others.map(ask)]);
  answer(exchange, [{ name: "shutdown", ok: !core.leaving }, ...checks]);
}

/** How long a probe waits for a `ready` hook, ms: a kubelet's own patience is a second. */
const PATIENCE = 500;

async function checkOf(view: Mounted): Promise<Check> {
  const answered = await within(PATIENCE, view.check());
  return { name: view.name, ok: answered && view.problem() === undefined };
}

/** Whether one of the server's own checks passes. */
async function ask([name, check]: readonly [string, ReadyCheck]): Promise<Check> {
  const controller = new AbortController();
  let ok = false;
  const asked = async (): Promise<void> => {
    try {
      await check({ signal: controller.signal });
      ok = true;
    } catch {} // why is nobody's business who may ask without credentials
  };
  const answered = await within(PATIENCE, asked());
  controller.abort();
  return { name, ok: answered && ok };
}

function within(patience: number, pending: Promise<void>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patience, false);
    void pending.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

/** Kubernetes' healthz text: `ok`, or with `?verbose` or a failure one line for each check. Never why: anybody may ask. */
function answer(exchange: Exchange, checks: readonly Check[]): void {
  exchange.answered = true;
  const ok = checks.every((check) => check.ok);
  const name = exchange.path.slice(1);
  const lines = checks.map((check) => (check.ok ? `[+]${check.name} ok` : `[-]${check.name} failed: reason withheld`));
  const text =
    ok && !exchange.query.has("verbose")
      ? "ok"
      : `${[...lines, `${name} check ${ok ? "passed" : "failed"}`].join("\n")}\n`;
  const body = Buffer.from(text);
  respond(exchange.res, {
    code: ok ? 200 : 503,
    contentType: "text/plain; charset=utf-8",
    body,
    headers: { "X-Content-Type-Options": "nosniff" },
  });
}
