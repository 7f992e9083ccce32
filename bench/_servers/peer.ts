// What is measured: a process of several that are one server, with a view of a collection that one of them answers for.
import { type PeerGroup, peerGroup } from "@virtual-workspaces/forwarding";
import { createServer } from "@virtual-workspaces/framework";
import { processMinter } from "@virtual-workspaces/framework/storage";
import type { KeyPair } from "@virtual-workspaces/framework/tls";
import { Upstream } from "@virtual-workspaces/transport";
import { serveCommands } from "../_harness/commands.ts";
import { tokens, view, widgets } from "./widget-view.ts";

/** By what they know one another. */
export interface PeerTrust {
  readonly ca: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
}

/** One of them. */
export interface PeerPlace {
  readonly minter: number;
  readonly port: number;
}

let group: PeerGroup;
let trust: PeerTrust;

const commands = {
  /** Serves an object of some bytes, by itself. */
  listen: async ({ bytes, ...given }: PeerTrust & { readonly bytes: number }): Promise<PeerPlace> => {
    trust = given;
    group = peerGroup({ trust: [{ ca: trust.ca }] });
    widgets.in("").set("w00000", { text: "x".repeat(bytes) });
    const server = createServer({
      virtualWorkspaces: [view],
      authentication: [...group.authenticators, tokens],
      peers: group.peers,
      tls: trust.server,
    });
    return { minter: processMinter.id, port: (await server.listen({ port: 0 })).port };
  },
  /** From now on these are one server. */
  meet: (members: readonly PeerPlace[]): void => {
    const { ca, client } = trust;
    group.members = members.map(({ minter, port }, at) => ({
      ...{ name: `peer-${at}`, minter },
      ...(minter !== processMinter.id && {
        upstream: new Upstream({ url: `https://127.0.0.1:${port}`, tls: { ca }, credentials: { get: () => client } }),
      }),
    }));
  },
};

export type Peer = typeof commands;

serveCommands(commands);
