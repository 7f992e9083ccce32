// Why: a forwarding view serves many users through few connections and shared streams. Objects of one user must never reach
// another, however their requests interleave.
import { forward } from "@virtual-workspaces/forwarding";
import {
  allow,
  defineVirtualWorkspace,
  deny,
  type ServedResource,
  staticTokens,
  view,
} from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type CallOptions, startPlain } from "../_support/plain.ts";
import { credentialed, Memo, type MemoContent } from "./upstream.ts";

const USERS = Array.from({ length: 61 }, (_, at) => `user-${at}`);
const LIMITS = { inFlight: 5_000, perUser: 1, perVirtualWorkspace: 1 };
const of = (name: string): string => `/services/${name}/apis/test.dev/v1/namespaces/a/memos`;

const workspace = (name: string, served: ServedResource) =>
  defineVirtualWorkspace({ name, path: "/", authorize: () => allow(), resources: [served] });

/** Starts a server that shows each user their own objects, and a server in front with forwarded objects and a view of them. */
async function start() {
  const memos = Memo.collection();
  for (const user of USERS) memos.in("", "a").set(`of-${user}`, { text: user });
  const theirs = view({
    from: memos,
    varyBy: ({ identity }) => identity.name,
    select: ({ spec }, { variant }) => spec.text === variant,
  });
  const behind = await startPlain([workspace("memos", Memo.serve(theirs))], {
    impersonation: ({ user }) => (user.name === "admin" ? allow() : deny("nobody else may")),
    limits: LIMITS,
  });
  const forwarded = forward<MemoContent>({ resource: Memo, upstream: credentialed(`${behind.url}/services/memos`) });
  const shown = view({ from: forwarded, select: () => true });
  const front = await startPlain([workspace("plain", Memo.serve(forwarded)), workspace("shown", Memo.serve(shown))], {
    authentication: [staticTokens(Object.fromEntries(USERS.map((name) => [name, { name }])))],
    limits: LIMITS,
  });
  return {
    front,
    memos,
    forwarded,
    [Symbol.asyncDispose]: async () => {
      await front[Symbol.asyncDispose]();
      await forwarded[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}

describe("many readers of a forwarding view", () => {
  it("get, list and watch only their own objects, 1,200 times in random order", async () => {
    await using servers = await start();
    const { front, memos, forwarded } = servers;
    const as = (user: string): CallOptions => ({ user: user as "alice" });
    const names = async (path: string, user: string): Promise<unknown> => {
      const { body } = await front.get(path, as(user));
      return body.items?.map(({ spec }: MemoContent) => spec.text) ?? body;
    };
    const watched = async (path: string, user: string): Promise<unknown> => {
      await using watch = await front.watch(`${path}?watch=true`, as(user));
      const first = await watch.next();
      memos.in("", "a").set(`of-${user}`, { text: user, big: Math.floor(Math.random() * 1e9) });
      const second = await watch.next();
      return [first, second].map(({ object }) => (object as unknown as MemoContent).spec.text);
    };
    const calls: ((user: string, other: string) => Promise<[unknown, unknown]>)[] = [
      async (user) => [(await front.get(`${of("plain")}/of-${user}`, as(user))).body.spec?.text, user],
      async (user, other) => [(await front.get(`${of("plain")}/of-${other}`, as(user))).status, 404],
      async (user) => [await names(of("plain"), user), [user]],
      async (user) => [await names(of("shown"), user), [user]],
      async (user) => [await watched(of("plain"), user), [user, user]],
      async (user) => [await watched(of("shown"), user), [user, user]],
    ];
    const asked = Array.from({ length: 1_200 }, (_, at) => {
      const user = USERS[(at * 7) % USERS.length] as string;
      const other = USERS[(at * 7 + 1) % USERS.length] as string;
      return (calls[(at * 5) % calls.length] as (typeof calls)[number])(user, other);
    });
    for (const [found, expected] of await Promise.all(asked)) expect(found).to.deep.equal(expected);
    expect(forwarded.state.watches).to.be.within(USERS.length, 2 * USERS.length);
  }).timeout(60_000);
});
