import type { ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import type { PeerGroup } from "@virtual-workspaces/forwarding";
import { allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { MemberPlace } from "./messages.ts";

/** Where replicas ask one another who there is. */
export const ROSTER_PATH = "/peers";
/** As whom they do. */
export const REPLICA = "system:replica";

/** The workers of a replica, as it tells others. */
export interface Roster {
  readonly members: readonly Pick<MemberPlace, "name" | "minter">[];
}

/** Tells replicas who works here, and nobody else. */
export function rosterView(group: PeerGroup, roster: () => Roster): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "peers",
    prefix: ROSTER_PATH,
    path: "/",
    authorize: () => allow(), // by certificate, below
    handle: (req, res) => {
      if (!group.isPeer(req))
        throw ApiError.forbidden({
          resource: { group: "", resource: "" },
          message: "only a peer may ask who there is",
        });
      answer(res, roster());
    },
  });
}

/** What another replica has told. @throws Error on what is no roster */
export function readRoster(body: Uint8Array): Roster {
  const { members } = JSON.parse(Buffer.from(body).toString("utf8")) as Partial<Roster>;
  if (!Array.isArray(members) || !members.every(isMember)) throw new Error("what it answers names no workers");
  return { members };
}

function isMember({ name, minter }: Roster["members"][number]): boolean {
  return typeof name === "string" && Number.isInteger(minter);
}

function answer(res: ServerResponse, roster: Roster): void {
  const body = JSON.stringify(roster);
  res.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) });
  res.end(body);
}
