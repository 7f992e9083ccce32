// A manager that is killed before or after any of its writes: another one continues, and the result is correct.
import { Client } from "@virtual-workspaces/client";
import { namespaceOf, Space, type SpaceManager, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { TransportError, Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { KeptSpaces } from "./support/kept-spaces.ts";
import { isReady, Management, NAMESPACE, SECRET } from "./support/management.ts";

const HERE = namespaceOf("here");

/** Allows a number of writes to the management cluster and the provider. The next write does not arrive, or its response does not. */
class Life {
  readonly over = Promise.withResolvers<void>();
  readonly #answered: boolean;
  #left: number;

  constructor(left: number, answered: boolean) {
    this.#left = left;
    this.#answered = answered;
  }

  get isOver(): boolean {
    return this.#left < 0;
  }

  async write<T>(write: () => Promise<T>): Promise<T> {
    if (!this.isOver) this.#left -= 1;
    else throw gone();
    if (!this.isOver) return write();
    if (!this.#answered) {
      this.over.resolve();
      throw gone();
    }
    await write();
    this.over.resolve();
    throw gone();
  }
}

const gone = (): TransportError => new TransportError("closed" as never, "killed", { delivered: true });

class Mortal extends Upstream {
  readonly #life: Life;

  constructor(url: string, life: Life) {
    const credential = { headers: ["Authorization", "Bearer root"] };
    super({ url, credentials: { get: () => credential } });
    this.#life = life;
  }

  override async stream(request: Parameters<Upstream["stream"]>[0]): ReturnType<Upstream["stream"]> {
    if (request.method !== undefined && request.method !== "GET") return this.#life.write(() => super.stream(request));
    if (this.#life.isOver) throw gone();
    return super.stream(request);
  }
}

/** Runs all steps with that number of writes. @returns whether the run was too short */
async function killed(left: number, answered: boolean): Promise<boolean> {
  await using stack = new AsyncDisposableStack();
  const management = stack.use(await Management.start());
  const kept = new KeptSpaces();
  kept.set("found");
  const life = new Life(left, answered);
  const upstream = stack.use(new Mortal(management.server.url, life));
  const client = stack.use(new Client({ upstream, cluster: "root:mgmt", retries: false }));
  const mortal = {
    open: () => ({
      list: kept.list.bind(kept),
      get: kept.get.bind(kept),
      access: kept.access.bind(kept),
      watch: kept.watch.bind(kept),
      create: (...call: Parameters<KeptSpaces["create"]>) => life.write(() => kept.create(...call)),
      delete: (...call: Parameters<KeptSpaces["delete"]>) => life.write(() => kept.delete(...call)),
    }),
  };
  let manager: SpaceManager = stack.use(management.manager({ client, types: { kept: mortal } }));
  const another = life.over.promise.then(async () => {
    await manager[Symbol.asyncDispose]();
    manager = stack.use(management.manager({ types: { kept: kept.type } }));
  });
  await management.provide("here", { type: "kept" });
  await management.until(HERE, "found", isReady);
  await management.make(HERE, "one");
  await management.until(HERE, "one", isReady);
  const spaces = management.client.resource(Space).in(HERE);
  await spaces.delete("one");
  await management.until(HERE, "one", (space) => space === undefined);
  await management.client.resource(SpaceProviderDesc).delete("here");
  await management.untilProvider("here", (one) => one === undefined);
  expect([...kept.spaces.keys()]).to.deep.equal(["found"]);
  expect((await spaces.list()).items).to.deep.equal([]);
  const namespaces = management.client.resource(NAMESPACE);
  for (;;) if ((await namespaces.get(HERE).catch(({ code }) => code)) === 404) break;
  expect((await management.client.resource(SECRET).in(HERE).list()).items).to.deep.equal([]);
  expect(kept.calls.filter((call) => call === "create one").length).to.be.oneOf([1, 2]);
  if (life.isOver) await another;
  return life.isOver;
}

describe("a killed manager of Spaces", function () {
  this.timeout(180_000);
  for (const [when, answered] of [
    ["before", false],
    ["after", true],
  ] as const)
    it(`${when} any of its writes leaves nothing that another manager does not complete`, async () => {
      let left = 0;
      while (await killed(left, answered)) left++;
      expect(left).to.be.greaterThan(12);
    });
});
