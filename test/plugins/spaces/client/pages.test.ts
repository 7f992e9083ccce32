// Pages of lists across Spaces: their contents, and Spaces that change between two pages.
import type { ApiError } from "@virtual-workspaces/apimachinery";
import { followSpaces, type SpaceList, type SpaceListOptions, type Spaces } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { faults } from "../../../_support/faulty.ts";
import { until } from "../../../_support/until.ts";
import { NOTE, type NoteContent, QUICK } from "../../../client/informer/support.ts";
import { when } from "../support/lent.ts";
import { Reader } from "../support/reader.ts";
import { isList, Shops } from "../support/shops.ts";

const NAMES = ["a", "b", "c"] as const;
const { backoff } = QUICK;
type List = SpaceList<NoteContent>;

describe("pages of lists across Spaces", function () {
  this.timeout(60_000);
  let shops: Shops;
  let spaces: Spaces;

  beforeEach(async () => {
    shops = await Shops.start(...NAMES);
    for (const name of NAMES) for (let n = 0; n < 4; n++) shops.set(name, `n${n}`, name);
    spaces = followSpaces({ client: shops.management.client, namespace: "default", onError: () => undefined });
    await spaces.synced;
  });
  afterEach(async () => {
    await spaces[Symbol.asyncDispose]();
    await shops[Symbol.asyncDispose]();
  });
  const page = (options: SpaceListOptions = {}): Promise<List> => spaces.list(NOTE, options);
  const names = ({ items }: List): string[] =>
    items.map(({ space, object }) => `${space.slice(8)}/${object.metadata.name}`);
  const all = NAMES.flatMap((name) => [0, 1, 2, 3].map((n) => `${name}/n${n}`));
  const failedIn = ({ failed }: List): string[] =>
    failed.map(({ space, error }) => `${space} ${(error as ApiError).code}`);
  /** Objects that a reader of these pages knows. */
  const knownFrom = (pages: readonly List[]): Map<string, Map<string, string>> => {
    const known = new Map<string, Map<string, string>>();
    for (const { items } of pages)
      for (const { space, object } of items)
        known.set(space, (known.get(space) ?? new Map()).set(object.metadata.name ?? "", object.spec.text ?? ""));
    return known;
  };
  /** Resumes from the cursor of the last page until all objects are known. */
  const goOn = async (pages: readonly List[]): Promise<string[]> => {
    const known = knownFrom(pages);
    const { cursor = "" } = pages.at(-1) ?? {};
    await using reader = new Reader(spaces.watch(NOTE, { cursor, backoff }), { known });
    const there = spaces.engaged.map(({ name }) => name);
    const truth = (): boolean =>
      [...reader.known.keys()].sort().join() === there.join() &&
      there.every((name) => {
        const has = [...shops.has(name.slice(8))].sort().join();
        return has === [...(reader.known.get(name) ?? [])].sort().join();
      });
    await until(truth, { what: `all is known: ${reader.lines}` });
    expect(reader.wrong).to.eql([]);
    return reader.lines.filter((line) => /^(RESET|LEFT)/.test(line));
  };

  it("have the requested number of objects, sorted by Space, without duplicates", async () => {
    const whole = await page();
    expect(whole).not.to.have.property("continue");
    for (let limit = 1; limit <= 13; limit++) {
      const pages: List[] = [];
      for await (const one of spaces.pages(NOTE, { limit })) pages.push(one);
      expect(pages.flatMap(names), `${limit}`).to.eql(all);
      expect(pages.flatMap(failedIn), `${limit}`).to.eql([]);
      for (const one of pages.slice(0, -1)) expect(one.items).to.have.length(limit);
      expect(pages.at(-1)?.cursor).to.equal(whole.cursor);
    }
  });

  it("have a cursor for all objects so far, as of the first page of each Space", async () => {
    const pages = [await page({ limit: 2 })];
    shops.set("a", "n0", "changed");
    shops.delete("a", "n3");
    shops.set("b", "n0", "changed");
    while (pages.at(-1)?.continue !== undefined) {
      pages.push(await page({ limit: 2, continue: pages.at(-1)?.continue as string }));
      shops.set("b", "n1", `changed ${pages.length}`);
    }
    expect(pages.flatMap(names)).to.eql(all);
    expect(await goOn(pages)).to.eql([]);
    // A cursor in the middle covers the Spaces up to that page.
    expect(await goOn(pages.slice(0, 1))).to.eql(["RESET default/a incomplete"]);
    expect(await goOn(pages.slice(0, 3))).to.eql(["RESET default/b incomplete"]);
  });

  it("combine many Spaces with few objects, with few requests", async () => {
    for (const name of NAMES) for (let n = 1; n < 4; n++) shops.delete(name, `n${n}`);
    for (let n = 0; n < 6; n++) await shops.alias(`d${n}`, "c");
    await when(spaces, () => spaces.engaged.length === 9);
    expect(names(await page({ limit: 10 }))).to.eql(["a/n0", "b/n0", "c/n0"]);
    expect(shops.wire("c").count(isList)).to.equal(7);
  });

  for (const [what, change, code] of [
    ["was removed", () => shops.remove("b"), 410],
    [
      "is another one of its name",
      async () => {
        await shops.remove("b");
        await shops.found("b");
        await when(spaces, () => spaces.engaged.length === 3);
      },
      410,
    ],
    [
      "is reached elsewhere",
      async () => {
        const before = spaces.client("b");
        await shops.move("b");
        await when(spaces, () => spaces.client("b") !== before);
      },
      410,
    ],
    [
      "is not Ready",
      async () => {
        await shops.conceal("b");
        await when(spaces, () => spaces.engaged.length === 2);
      },
      503,
    ],
    ["cannot be read", () => void shops.wire("b").fail(faults.unauthorized(), { on: isList }), 401],
    ["no longer has the page", () => void shops.wire("b").fail(faults.gone(), { on: isList, times: 1 }), 410],
  ] as const)
    it(`name a Space that ${what} between two pages, and continue with the others`, async () => {
      const pages = [await page({ limit: 6 })];
      expect(names(pages[0] as List)).to.eql(all.slice(0, 6));
      await change();
      if (what === "was removed") await when(spaces, () => spaces.states.length === 2);
      while (pages.at(-1)?.continue !== undefined)
        pages.push(await page({ limit: 6, continue: pages.at(-1)?.continue as string }));
      expect(pages.flatMap(failedIn)).to.eql([`default/b ${code}`]);
      expect(pages.flatMap(names)).to.eql([...all.slice(0, 6), ...all.slice(8)]);
      shops.wire("b").heal();
      if (what === "is not Ready") {
        await shops.rotate("b", "alice");
        await when(spaces, () => spaces.engaged.length === 3);
      }
      const reasons: Readonly<Record<string, string>> = {
        "was removed": "LEFT default/b gone",
        "is another one of its name": "RESET default/b replaced",
        "is reached elsewhere": "RESET default/b moved",
      };
      expect(await goOn(pages)).to.eql([reasons[what] ?? "RESET default/b incomplete"]);
    });

  it("name a Space that cannot be read once, on the page of its turn", async () => {
    await shops.conceal("b");
    await when(spaces, () => spaces.engaged.length === 2);
    shops.wire("c").fail(faults.unauthorized(), { on: isList });
    const pages: List[] = [];
    for await (const one of spaces.pages(NOTE, { limit: 3 })) pages.push(one);
    expect(pages.flatMap(names)).to.eql(all.slice(0, 4));
    expect(pages.map(failedIn)).to.eql([[], ["default/b 503", "default/c 401"]]);
    await shops.rotate("b", "alice");
    shops.wire("c").heal();
    await when(spaces, () => spaces.engaged.length === 3);
    expect(await goOn(pages)).to.eql([]);
  });

  it("accept only the continue token of a page of the same list", async () => {
    const { continue: token = "", cursor } = await page({ limit: 1 });
    const refusal = (options: SpaceListOptions): Promise<ApiError> =>
      page(options).then(
        () => expect.fail(),
        (error) => error,
      );
    for (const limit of [0, -1, 1.5, Number.NaN]) expect(await refusal({ limit })).to.include({ code: 400 });
    for (const text of ["", "5", "eyJ2IjoxfQ"])
      expect(await refusal({ continue: text }), text).to.include({ code: 400 });
    for (const text of [token.slice(0, -9), cursor, "p1.W10", "p2.W10"])
      expect(await refusal({ continue: text }), text).to.include({ code: 410 });
    expect(await refusal({ continue: token, labels: "a=b" })).to.include({ code: 410 });
    expect(names(await page({ continue: token }))).to.eql(all.slice(1));
    expect(
      await page({ signal: AbortSignal.abort(new Error("enough")), limit: 1 }).catch(({ message }) => message),
    ).to.equal("enough");
  });

  it("end with a server that has no pagination, or repeats a continue token", async () => {
    const items = [0, 1, 2].map((n) => ({ metadata: { name: `x${n}`, resourceVersion: "5" }, spec: {} }));
    const list = (metadata: object) =>
      faults.answer({
        status: 200,
        headers: ["Content-Type", "application/json"],
        body: JSON.stringify({ apiVersion: "test.dev/v1", kind: "NoteList", metadata, items }),
      });
    const rule = shops.wire("a").fail(list({ resourceVersion: "5" }), { on: isList });
    const pages: List[] = [];
    for await (const one of spaces.pages(NOTE, { limit: 2 })) pages.push(one);
    expect(pages.flatMap(names)).to.eql(["a/x0", "a/x1", "a/x2", ...all.slice(4)]);
    rule[Symbol.dispose]();
    shops.wire("a").fail(list({ resourceVersion: "5", continue: "again" }), { on: isList });
    const round: List[] = [];
    for await (const one of spaces.pages(NOTE, { limit: 3 })) round.push(one);
    expect(round.flatMap(failedIn)).to.eql(["default/a 500"]);
    expect(round.flatMap(names)).to.eql(["a/x0", "a/x1", "a/x2", ...all.slice(4)]);
  });
});
