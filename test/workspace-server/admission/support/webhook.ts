// An HTTPS server with admission webhooks, as users write them with Express.
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import express from "express";
import { createAuthority, type TestAuthority } from "../../../_support/server.ts";

// biome-ignore lint/suspicious/noExplicitAny: documents of tests
export type Review = any;

/** Response of an AdmissionReview, without its uid. */
export interface Response {
  readonly allowed?: boolean;
  readonly status?: object;
  readonly patch?: readonly object[];
  readonly warnings?: readonly string[];
  readonly auditAnnotations?: object;
  /** Replaces the whole answer. */
  readonly whole?: { readonly code?: number; readonly body?: unknown; readonly headers?: Record<string, string> };
  /** Delays the answer until the connection is closed. */
  readonly silent?: boolean;
}

type Decide = (request: Review) => Response | Promise<Response>;

/** Webhooks by path. */
export class WebhookServer implements AsyncDisposable {
  readonly port: number;
  /** Requests of all AdmissionReviews, by path. */
  readonly requests = new Map<string, Review[]>();
  readonly #authority: TestAuthority;
  readonly #decide = new Map<string, Decide>();
  readonly #server: ReturnType<typeof createServer>;
  connections = 0;
  /** Number of calls that ended without an answer. */
  closed = 0;

  private constructor(authority: TestAuthority, server: ReturnType<typeof createServer>) {
    this.#authority = authority;
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(authority: TestAuthority = createAuthority()): Promise<WebhookServer> {
    const app = express();
    const server = createServer(authority.server, app).listen(0, "127.0.0.1");
    await once(server, "listening");
    const webhooks = new WebhookServer(authority, server);
    server.on("secureConnection", () => webhooks.connections++);
    app.use(express.json({ limit: "10mb", type: "application/json" }));
    app.post("/{*path}", async (req, res) => {
      const { request } = req.body as Review;
      const path = req.path;
      webhooks.requests.set(path, [...webhooks.calls(path), { ...request, query: req.query, sent: req.body }]);
      const { patch, whole, silent, ...response } = (await webhooks.#decide.get(path)?.(request)) ?? {};
      if (silent === true) {
        res.once("close", () => webhooks.closed++);
        return;
      }
      if (whole !== undefined) {
        res
          .status(whole.code ?? 200)
          .set(whole.headers ?? {})
          .json(whole.body ?? {});
        return;
      }
      const patched = patch && { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
      const { apiVersion, kind } = req.body as Review;
      res.json({ apiVersion, kind, response: { uid: request.uid, allowed: true, ...response, ...patched } });
    });
    return webhooks;
  }

  /** Decides about the requests of a path; without it, all are allowed. */
  at(path: string, decide: Decide): this {
    this.#decide.set(path, decide);
    return this;
  }

  /** Returns the requests of a path so far. */
  calls(path: string): Review[] {
    return this.requests.get(path) ?? [];
  }

  /** Returns `clientConfig` for a path. */
  config(path: string): object {
    return {
      url: `https://127.0.0.1:${this.port}${path}`,
      caBundle: Buffer.from(this.#authority.ca).toString("base64"),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}
