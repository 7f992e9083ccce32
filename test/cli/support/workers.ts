// The processes of a program that has workers, and requests on connections of their own, which workers get in turn.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";

/** Returns the ids of a process' children. */
export function childrenOf(pid: number): readonly number[] {
  const lines = execFileSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).split("\n");
  return lines.flatMap((line) => {
    const [id, parent] = line.trim().split(/\s+/).map(Number);
    return parent === pid && id !== undefined ? [id] : [];
  });
}

export interface Answered {
  readonly status: number;
  readonly text: string;
  /** Cookies that were set, as a client sends them. */
  readonly cookie: string;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Sends a request on a connection of its own. */
export async function sendAlone(url: string, ca: string, { method = "GET", headers = {}, body }: Sent = {}) {
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const req = request(url, { method, ca, agent: false, headers: { ...json, ...headers } });
  req.end(body === undefined ? undefined : JSON.stringify(body));
  const [res] = (await once(req, "response")) as [IncomingMessage];
  let text = "";
  for await (const piece of res.setEncoding("utf8")) text += piece;
  const cookies = (res.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0] ?? "");
  const cookie = cookies.filter((pair) => !pair.endsWith("=")).join("; ");
  return { status: res.statusCode ?? 0, text, cookie } satisfies Answered;
}

/** Opens a watch as admin, whose response has begun. */
export async function openStream(url: string, ca: string): Promise<{ readonly complete: Promise<boolean> }> {
  const req = request(url, { ca, agent: false, headers: { authorization: "Bearer admin-token" } }).end();
  const [res] = (await once(req, "response")) as [IncomingMessage];
  res.resume();
  return { complete: once(res, "close").then(() => res.complete) };
}
