// Server of quotes with TLS, and the credentials of a Go client.
import type { CollectionOptions, VirtualWorkspace } from "@virtual-workspaces/framework";
import type { CollectionPart } from "@virtual-workspaces/framework/storage";
import { type Relay, startRelay } from "../../_support/relay.ts";
import {
  type KubeconfigHome,
  kubeconfigHome,
  startTls,
  type TlsServer,
  type TlsServerOptions,
} from "../../_support/server.ts";
import { GoClient, type GoCommand } from "./client.ts";
import { Quote, type QuoteContent, type Quotes, quotesView, versions } from "./views.ts";

export interface StageOptions extends TlsServerOptions, CollectionOptions {
  /** View to serve. @default all quotes */
  readonly view?: (quotes: Quotes) => VirtualWorkspace;
  /** Whether clients connect through a relay that can be cut. */
  readonly wire?: boolean;
  /** Logical cluster of the clients. @default "root" */
  readonly cluster?: string;
  /** User of the clients: the admin has a certificate, alice a token. @default "admin" */
  readonly user?: "admin" | "alice";
}

/** Server of quotes, its clients, and the relay between them. */
export class Stage implements AsyncDisposable {
  quotes: Quotes;
  readonly #options: StageOptions;
  readonly #relay: Relay | undefined;
  readonly #home: KubeconfigHome;
  #server: TlsServer;

  private constructor(
    options: StageOptions,
    parts: { quotes: Quotes; server: TlsServer; relay: Relay | undefined; home: KubeconfigHome },
  ) {
    this.#options = options;
    this.quotes = parts.quotes;
    this.#server = parts.server;
    this.#relay = parts.relay;
    this.#home = parts.home;
  }

  static async start(options: StageOptions = {}): Promise<Stage> {
    const quotes: Quotes = Quote.collection(options);
    const server = await serve(quotes, options);
    const relay = options.wire === true ? await startRelay(server.port) : undefined;
    const port = relay?.port ?? server.port;
    const { cluster = "root", user = "admin" } = options;
    const contexts = { quotes: `/services/quotes/clusters/${cluster}` };
    const home = await kubeconfigHome({ authority: server.authority, port, contexts, user });
    return new Stage(options, { quotes, server, relay, home });
  }

  get root(): CollectionPart<QuoteContent> {
    return this.quotes.in("root");
  }

  /** Relay, if the stage has one. */
  get wire(): Relay {
    if (this.#relay === undefined) throw new Error("the stage was started without wire: true");
    return this.#relay;
  }

  get kubeconfig(): string {
    return this.#home.kubeconfig;
  }

  /** Resource versions by key of all quotes in `root`. */
  get versions(): Map<string, string> {
    return versions(this.root);
  }

  /** Starts a Go client. */
  client(command: GoCommand, flags: Readonly<Record<string, string>> = {}): GoClient {
    return GoClient.start(command, { kubeconfig: this.kubeconfig, flags });
  }

  /** Sets `count` quotes named `<prefix>-0000` and so on. */
  fill(count: number, prefix = "quote"): void {
    for (let at = 0; at < count; at++) this.root.set(`${prefix}-${String(at).padStart(4, "0")}`, { text: `no. ${at}` });
  }

  /**
   * Sends an event. client-go treats a watch that ends in its first second without an event as broken, and relists instead of
   * resuming.
   */
  async touch(client: GoClient): Promise<void> {
    this.root.set("touch", { text: "an event" });
    await client.event("added", ({ key }) => key === "touch");
  }

  /** Gives the next server a new, empty collection. */
  restock(): void {
    this.quotes = Quote.collection(this.#options);
  }

  /** Stops the server like a signal: watches end cleanly. */
  async stop(): Promise<void> {
    await this.#server.close();
  }

  /** Starts another server in place of the old one, with the same quotes. */
  async resume(): Promise<void> {
    const { port, authority } = this.#server;
    this.#server = await serve(this.quotes, { ...this.#options, port, authority });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#relay?.[Symbol.asyncDispose]();
    await this.#server.close();
    this.#home[Symbol.dispose]();
  }
}

function serve(quotes: Quotes, options: StageOptions): Promise<TlsServer> {
  return startTls([options.view?.(quotes) ?? quotesView([Quote.serve(quotes)])], options);
}
