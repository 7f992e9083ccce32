import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { hostOf, type UpstreamOptions } from "@virtual-workspaces/transport";
import { TLS_TARGET } from "../enrolment/wire.ts";
import type { Target } from "../tunnel/agent-end.ts";
import type { AgentOptions } from "./options.ts";
import type { AgentApi } from "./remote-api.ts";

/** After so long without a byte the kernel asks whether the API server is there, ms. */
const PROBED_AFTER = 4_000;
const HTTPS = 443;

/**
 * The remote cluster's API server as a place that bytes are brought to: a hub talks TLS with it, by a credential of its own. Nothing of it can be read
 * here, and nothing be refused but other places.
 */
export class ByteApi implements AgentApi {
  readonly tls = "EndToEnd";
  readonly #target: Target;

  /** @throws Error on an address that is none of https */
  constructor({ api }: Pick<AgentOptions, "api">) {
    const url = new URL(api.url);
    if (url.protocol !== "https:")
      throw new Error(
        "endToEnd of an agent: its API server has to be https, or whatever is said could be read on the way",
      );
    const at = { host: hostOf(url), port: Number(url.port) || HTTPS };
    const { dial } = api as Partial<UpstreamOptions>;
    this.#target = {
      dial: ({ signal }) => (dial === undefined ? dialled(at, signal) : Promise.resolve(dial(at, { signal }))),
    };
  }

  target(name: string): Target | undefined {
    return name === TLS_TARGET ? this.#target : undefined;
  }

  async start(): Promise<void> {}

  /** Nobody here knows what of it is a watch: what is open ends when the hub has ended it. */
  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function dialled(at: { readonly host: string; readonly port: number }, signal: AbortSignal): Promise<Duplex> {
  const socket = connect({ ...at, allowHalfOpen: true });
  socket.setNoDelay(true).setKeepAlive(true, PROBED_AFTER);
  try {
    await once(socket, "connect", { signal });
    return socket;
  } catch (error) {
    socket.on("error", () => undefined).destroy();
    throw error;
  }
}
