// Two servers that forward to each other by mistake: every request ends with an error, and leaves nothing running.
import { type Forwarded, forward } from "@virtual-workspaces/forwarding";
import { allow, createServer, defineVirtualWorkspace, staticTokens, view } from "@virtual-workspaces/framework";
import type { Storage } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { freePorts } from "../_support/free-ports.ts";
import { Memo, type MemoContent } from "./upstream.ts";

const PATH = "/services/memos/apis/test.dev/v1/namespaces/a/memos";

/** Starts a server whose memos are those of the server on another port. */
async function startOne(port: number, next: number, served: (memos: Forwarded<MemoContent>) => Storage<never>) {
  const memos = forward<MemoContent>({
    resource: Memo,
    upstream: {
      url: `http://127.0.0.1:${next}/services/memos`,
      credentials: { get: () => ({ headers: ["Authorization", "Bearer alice"] }) },
    },
    identity: "none",
    cluster: () => "",
    onError: () => undefined,
  });
  const workspace = defineVirtualWorkspace({
    name: "memos",
    path: "/",
    authorize: () => allow(),
    resources: [Memo.serve(served(memos))],
  });
  const server = createServer({
    virtualWorkspaces: [workspace],
    authentication: [staticTokens({ alice: { name: "alice" } })],
    log: testLog().log,
  });
  await server.listen({ port });
  return {
    memos,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await memos[Symbol.asyncDispose]();
    },
  };
}

const INITIAL = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
/** Requests of kubectl and client-go. */
const TARGETS = ["/x", "", "?limit=500", "?watch=true", `?watch=true&${INITIAL}`];

const SERVED = {
  "forwarded kinds": (memos: Forwarded<MemoContent>) => memos as unknown as Storage<never>,
  "views of forwarded kinds": (memos: Forwarded<MemoContent>) =>
    view({ from: memos, select: () => true }) as unknown as Storage<never>,
};

describe("two servers that forward to each other", () => {
  for (const [what, served] of Object.entries(SERVED))
    it(`answer every request with its route if they serve ${what}, and then send no more requests`, async () => {
      const [one = 0, two = 0] = await freePorts(2);
      await using first = await startOne(one, two, served);
      await using second = await startOne(two, one, served);
      for (const target of TARGETS) {
        const answer = await fetch(`http://127.0.0.1:${one}${PATH}${target}`, {
          headers: { authorization: "Bearer alice" },
          signal: AbortSignal.timeout(15_000),
        });
        const { message } = (await answer.json()) as { readonly message: string };
        expect([target, answer.status]).to.deep.equal([target, 500]);
        expect(message).to.include("memos -> memos -> memos -> memos -> memos. One of them");
      }
      const { watches, requests } = first.memos.state;
      expect([watches, requests]).to.deep.equal([0, 2 * TARGETS.length]);
      expect(second.memos.state).to.deep.equal(first.memos.state);
    });
});
