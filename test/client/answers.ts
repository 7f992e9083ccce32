// Servers that send scripted answers one after another, and count requests.

import type { RequestListener } from "node:http";
import { Client, type ClientOptions } from "@virtual-workspaces/client";
import { startListener } from "../_support/listener.ts";
import { Note } from "../_support/note.ts";

export interface Answer {
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export const note = (name: string): string =>
  JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name }, spec: {} });

export const status = (code: number, rest: object = {}): Answer => ({
  code,
  body: JSON.stringify({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `told ${code}`,
    code,
    ...rest,
  }),
});

/** Method and path of a request. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly at: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Answering extends AsyncDisposable {
  readonly client: Client;
  readonly notes: ReturnType<typeof Client.prototype.resource<{ spec: { text?: string } }>>;
  readonly asked: Asked[];
  readonly url: string;
}

/** Starts a server. The last answer repeats. */
export async function answering(answers: readonly Answer[], options: Partial<ClientOptions> = {}): Promise<Answering> {
  let next = 0;
  return await listening((_req, res) => {
    const { code = 200, headers = {}, body = note("a") } = answers[Math.min(next, answers.length - 1)] ?? {};
    next += 1;
    res.writeHead(code, { "Content-Type": "application/json", ...(headers as Record<string, string>) }).end(body);
  }, options);
}

export async function listening(listener: RequestListener, options: Partial<ClientOptions> = {}): Promise<Answering> {
  const asked: Asked[] = [];
  const server = await startListener((req, res) => {
    asked.push({ method: req.method ?? "", url: req.url ?? "", at: performance.now(), headers: req.headers });
    listener(req, res);
  });
  const client = new Client({ upstream: { url: server.url }, ...options });
  return {
    client,
    notes: client.resource(Note),
    asked,
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
