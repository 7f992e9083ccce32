// Server whose views forward to Kubernetes' own server, with their clients.
import { forward, type WritableForwarded } from "@virtual-workspaces/forwarding";
import {
  allow,
  authenticated,
  defineVirtualWorkspace,
  type VirtualWorkspace,
  view,
} from "@virtual-workspaces/framework";
import { Upstream, type UpstreamOptions } from "@virtual-workspaces/transport";
import { type KubeconfigHome, kubeconfigHome, startTls, type TlsServer } from "../../_support/server.ts";
import { KeptOracle } from "./kept-oracle.ts";
import { Quote, type QuoteContent } from "./views.ts";

type Quotes = WritableForwarded<QuoteContent>;

/** `/services/quotes` shows all objects of the upstream, `/services/shown` those that are not hidden. */
function viewsOf(source: Quotes): VirtualWorkspace[] {
  const shown = view({
    from: source,
    select: ({ metadata }) => metadata.labels?.["hidden"] !== "true",
    mapToSource: (object) => object,
  });
  const ready = source.ready;
  const common = { path: "/", authorize: authenticated(), ready } as const;
  return [
    defineVirtualWorkspace({ ...common, name: "quotes", resources: [Quote.serve(source)] }),
    defineVirtualWorkspace({ ...common, name: "shown", resources: [Quote.serve(shown)] }),
  ];
}

/** Server that forwards to another one. */
export class ForwardingServer implements AsyncDisposable {
  readonly source: Quotes;
  /** Errors of the upstream. */
  readonly failures: unknown[];
  readonly #server: TlsServer;

  private constructor(source: Quotes, { failures, server }: { failures: unknown[]; server: TlsServer }) {
    this.source = source;
    this.failures = failures;
    this.#server = server;
  }

  /** @param before the server that it replaces, with its port and certificates */
  static async start(upstream: UpstreamOptions, before?: ForwardingServer): Promise<ForwardingServer> {
    const failures: unknown[] = [];
    const source = forward({
      resource: Quote,
      upstream,
      cluster: () => "",
      // The upstream authorizes only users of its own.
      identity: ({ name }) => ({ name, groups: ["system:masters"] }),
      onError: (error) => void failures.push(error),
    });
    await source.ready();
    const place = before === undefined ? {} : { port: before.#server.port, authority: before.#server.authority };
    const server = await startTls(viewsOf(source), { impersonation: () => allow(), ...place });
    return new ForwardingServer(source, { failures, server });
  }

  /** Returns one of its views as an upstream of another server, with the user of kubeconfigs: versions in a view depend on the user. */
  as(name: string): UpstreamOptions {
    const { port, authority } = this.#server;
    const credential = authority.client("admin", ["admins"]);
    return {
      url: `https://127.0.0.1:${port}/services/${name}`,
      tls: { ca: authority.ca },
      credentials: { get: () => credential },
    };
  }

  /** Returns the status of `/readyz` for one of its views. */
  async readiness(name: string): Promise<number> {
    const { port, authority } = this.#server;
    const asked = new Upstream({ url: `https://127.0.0.1:${port}`, tls: { ca: authority.ca } });
    try {
      return (await asked.send({ path: `/readyz/${name}` })).status;
    } finally {
      await asked[Symbol.asyncDispose]();
    }
  }

  /** Returns a kubeconfig for one of its views. */
  home(name: string): Promise<KubeconfigHome> {
    const { authority, port } = this.#server;
    return kubeconfigHome({ authority, port, contexts: { [name]: `/services/${name}` } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.close();
    await this.source[Symbol.asyncDispose]();
  }
}

/** Starts an oracle with quotes, and a server in front of it. */
export async function startForwarded(): Promise<{ oracle: KeptOracle; server: ForwardingServer } & AsyncDisposable> {
  const oracle = await KeptOracle.start([[Quote] as never]);
  const server = await ForwardingServer.start(oracle.upstream);
  return {
    oracle,
    server,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await oracle[Symbol.asyncDispose]();
    },
  };
}
