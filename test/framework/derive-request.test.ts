// Requests that continue with another path, user or cluster: for each place that derives them, whether all other fields are
// kept, and whether lazy fields are computed only on access.
import {
  allow,
  createServer,
  defineVirtualWorkspace,
  type RawRequest,
  staticTokens,
  User,
} from "@virtual-workspaces/framework";
import { deriveRequest, type RequestChanges } from "@virtual-workspaces/framework/request";
import { expect } from "chai";

type Request = Required<RawRequest<Readonly<Record<string, string>>>> & { readonly head: Buffer };

/** A request with every field, and the names of the lazy fields that were read. */
function requestWith(): { readonly request: Request; readonly asked: string[] } {
  const asked: string[] = [];
  const ending = new AbortController().signal;
  const request: Request = {
    user: new User({ name: "alice", groups: ["authors"] }),
    params: { cluster: "one" },
    signal: new AbortController().signal,
    requestId: "id",
    prefix: "/services/quotes/clusters/one",
    tail: "/api/v1/pods",
    search: "?limit=1",
    hops: 1,
    token: "secret",
    impersonation: ["Impersonate-User", "bob"],
    loginFailed: () => asked.push("loginFailed"),
    takeTime: () => asked.push("takeTime"),
    head: Buffer.from("head"),
    get via() {
      asked.push("via");
      return "1.1 quotes";
    },
    get ending() {
      asked.push("ending");
      return ending;
    },
  };
  return { request, asked };
}

const over = new AbortController().signal;

/** A getter that combines the `ending` signals of the request and of the code that derives it. */
const endingWith = (request: Request): RequestChanges => ({
  get ending() {
    return AbortSignal.any([request.ending, over]);
  },
});

const prefix = "/clusters/two";
const user = new User({ name: "system:lifecycle" });
const { signal } = new AbortController();

/** Places that derive requests, and the fields that they change. */
const DERIVATIONS: readonly (readonly [string, (request: Request) => RequestChanges])[] = [
  ["a workspace behind the front proxy", () => ({ prefix })],
  ["a backend of the front proxy that can be removed", endingWith],
  ["a mapped service with fewer groups", () => ({ user })],
  ["a view that stores a resource of an export", () => ({ prefix, tail: "/apis" })],
  ["a mounted workspace", (request) => withGetters({ prefix, signal }, endingWith(request))],
  ["a remote cluster through one of its tunnels", endingWith],
  ["the workspace of a ClusterProxy itself", (request) => withGetters({ prefix }, endingWith(request))],
  ["the content of a workspace during setup or removal", () => ({ user })],
  ["an upgrade by a view or a subresource", () => ({ head: Buffer.from("other") })],
];

/** Merges the changes of both without reading them. */
function withGetters(one: RequestChanges, other: RequestChanges): RequestChanges {
  return Object.defineProperties({ ...one }, Object.getOwnPropertyDescriptors(other));
}

const NAMES = Object.keys(requestWith().request) as (keyof Request)[];

describe("deriveRequest()", () => {
  for (const [name, changes] of DERIVATIONS) {
    it(`keeps all fields for ${name}`, () => {
      const { request } = requestWith();
      const changed = changes(request);
      const derived = deriveRequest(request, changed);
      expect(Object.keys(derived)).to.have.members(NAMES);
      for (const field of NAMES.filter((one) => !(one in changed)))
        expect(derived[field], field).to.equal(request[field]);
      for (const field of Object.keys(changed).filter((one) => one !== "ending") as (keyof Request)[])
        expect(derived[field], field).to.equal((changed as Partial<Request>)[field]);
    });

    it(`reads no lazy field for ${name}`, () => {
      const { request, asked } = requestWith();
      const derived = deriveRequest(request, changes(request));
      expect(asked).to.deep.equal([]);
      expect(derived.ending.aborted).to.equal(false);
      expect(asked).to.deep.equal(["ending"]);
    });
  }

  it("keeps fields lazy however often a request is derived", () => {
    const { request, asked } = requestWith();
    const derived = deriveRequest(deriveRequest(request, { prefix }), { user });
    expect(asked).to.deep.equal([]);
    expect([derived.prefix, derived.user, derived.via]).to.deep.equal([prefix, user, "1.1 quotes"]);
    expect(asked).to.deep.equal(["via"]);
  });

  it("keeps the fields of a raw handler's request, which are made on first read", async () => {
    const view = defineVirtualWorkspace({
      name: "raw",
      path: "/",
      authorize: () => allow(),
      handle: (_req, res, request) => {
        const moved = deriveRequest(request, { prefix });
        const ended = withGetters(
          { search: "?x=1" },
          {
            get ending() {
              return over;
            },
          },
        );
        const derived = deriveRequest(deriveRequest(moved, ended), { signal, head: Buffer.from("head") });
        const { takeTime, loginFailed } = derived;
        takeTime();
        loginFailed();
        const same = [derived.user === request.user, derived.requestId === request.requestId];
        const changed = [derived.prefix, derived.search, derived.head.toString(), derived.tail];
        const lazy = [moved.signal === request.signal, derived.via === request.via, derived.signal === signal];
        res.end(JSON.stringify({ same, changed, lazy, ending: derived.ending === over, left: moved.signal.aborted }));
      },
    });
    await using server = createServer({
      virtualWorkspaces: [view],
      authentication: [staticTokens({ token: { name: "alice" } })],
      tls: false,
    });
    const { url } = await server.listen({ port: 0 });
    const answer = await fetch(`${url}/services/raw/tail`, { headers: { Authorization: "Bearer token" } });
    expect(await answer.json()).to.deep.equal({
      same: [true, true],
      changed: [prefix, "?x=1", "head", "/tail"],
      lazy: [true, true, true],
      ending: true,
      left: false,
    });
  });

  it("keeps fields that a request class reads from private members", () => {
    class Asking {
      readonly params = { cluster: "one" };
      readonly user = user;
      readonly #signal = signal;

      get signal(): AbortSignal {
        return this.#signal;
      }
    }
    const derived = deriveRequest(new Asking(), { params: { cluster: "two" } });
    expect(derived.signal).to.equal(signal);
    expect(derived.params.cluster).to.equal("two");
  });
});
