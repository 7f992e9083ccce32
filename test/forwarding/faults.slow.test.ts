// An upstream that is slow, dead, black-holed, restarting, forgetful or invalid, end to end with default settings: what
// clients see meanwhile, and that everything recovers.
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { until } from "../_support/until.ts";
import { TROUBLES, type Trouble } from "./faults/faults.ts";
import { pathOf, Systems, textsOf, VIEWS } from "./faults/systems.ts";
import { counted, Restartable } from "./faults/upstream.ts";

/** Maximum recovery time, in ms. */
const MENDED = 15_000;
/** Maximum duration of a request while the upstream fails, in ms. */
const ANSWERED = 31_000;
/** Maximum growth of memory, in MiB. */
const MEMORY = 700;

/** `FAULTS=5` runs five of them, spread over the list, to save time. */
const EVERY = Math.max(1, Math.floor(TROUBLES.length / Number(process.env["FAULTS"] ?? TROUBLES.length)));

const memory = (): number => process.memoryUsage.rss() / 2 ** 20;

/** Returns the time until a condition holds, in ms. */
async function timeUntil(what: string, condition: () => boolean | Promise<boolean>, within: number): Promise<number> {
  const began = performance.now();
  await until(condition, { what, within });
  return performance.now() - began;
}

const isReady = async (systems: Systems, name: string): Promise<boolean> =>
  (await systems.server.get(`/readyz/${name}`)).status === 200;

/** Checks what clients see during the fault. */
async function during(systems: Systems, { codes = [503], unready }: Trouble): Promise<void> {
  if (unready) await timeUntil("readiness says so", async () => !(await isReady(systems, "memos")), 10_000);
  const seen: Record<string, unknown> = {};
  const asked = VIEWS.flatMap((name) =>
    ["memos", "namespaces/a/memos/stays"].map(async (path) => {
      const { answer, took } = await systems.ask(`${pathOf(name)}/${path}`);
      const what = `${path} of ${name}`;
      seen[what] = [answer?.status ?? 0, Math.round(took)];
      expect(took, what).to.be.below(ANSWERED);
      if (name === "memos") expect(answer?.status ?? 0, what).to.be.oneOf([...codes]);
      if (answer?.status === 200 && answer.body?.items !== undefined)
        expect(
          answer.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
          what,
        ).to.include("stays");
      expect(answer?.status, what).to.not.equal(404);
    }),
  );
  await Promise.all(asked);
  if (process.env["SHOW"] !== undefined) process.stderr.write(`${JSON.stringify(seen)}\n`);
}

describe("a failing upstream", function () {
  this.timeout(120_000);
  for (const trouble of TROUBLES.filter((_, at) => at % EVERY === 0)) {
    it(`(${trouble.name}) causes no deletions, and recovers within 15 s`, async () => {
      await using upstream = await Restartable.start(trouble.counted === true ? counted() : undefined);
      for (const name of ["stays", "changes", "goes"]) await upstream.set(name, "1");
      for (let n = 0; n < 30; n++) await upstream.set("changes", `${n}`);
      await using systems = await Systems.start(upstream);
      const isLike =
        (texts: Record<string, string>, of: string): (() => boolean) =>
        () => {
          const { healthy: _, ...known } = systems.followers.find(({ name }) => name === of)?.texts() ?? {};
          return JSON.stringify(sorted(known)) === JSON.stringify(sorted(texts));
        };
      const hold = async (patience: number): Promise<Record<string, number>> => {
        const texts = await upstream.texts();
        const took = await Promise.all(
          systems.followers.map(
            async ({ name }) =>
              [
                name,
                Math.round(
                  await timeUntil(`${name} holds ${JSON.stringify(texts)}`, isLike(texts, name), patience).catch(
                    (e) => {
                      throw new Error(
                        `${e.message} but ${JSON.stringify(systems.followers.find((f) => f.name === name)?.texts())}`,
                      );
                    },
                  ),
                ),
              ] as const,
          ),
        );
        return Object.fromEntries(took);
      };
      await hold(5_000);
      expect(systems.errors).to.deep.equal([]);
      const before = memory();
      let most = before;
      const sampling = setInterval(() => {
        most = Math.max(most, memory());
      }, 50);
      try {
        await trouble.begin(upstream);
        await upstream.set("changes", "2");
        await during(systems, trouble);
        await upstream.remove("goes");
        await upstream.set("comes", "1");
        await (trouble.end ?? (({ wire }) => wire.heal()))(upstream);
        await upstream.set("healed", "1");
        const took = await hold(MENDED);
        if (process.env["SHOW"] !== undefined)
          process.stderr.write(
            `${trouble.name} ${JSON.stringify(took)} ${systems.errors.map(String).join(" | ")} ${JSON.stringify(systems.source.state)} ${Math.round(most - before)} MiB\n`,
          );
      } finally {
        clearInterval(sampling);
      }
      for (const { name, gone } of systems.followers)
        expect(
          gone.filter((one) => one !== "goes"),
          `what ${name} was told to be gone`,
        ).to.deep.equal([]);
      for (const name of VIEWS) {
        await timeUntil(`${name} is ready`, () => isReady(systems, name), MENDED);
        const { answer } = await systems.ask(`${pathOf(name)}/memos`);
        const { healthy: _, ...listed } = textsOf(answer?.body?.items ?? []);
        expect(listed, `list of ${name}`).to.deep.equal(await upstream.texts());
      }
      if (trouble.unready) expectFault(/virtual workspace is not ready/);
      expect(most - before, "growth of memory, MiB").to.be.below(MEMORY);
      // Once per watch, and once for requests.
      expect(systems.errors.length, "failures that were told").to.be.at.most(systems.source.state.watches + 1);
      if (trouble.told !== false) expect(systems.errors.length, "failures that were told").to.be.above(0);
      expect(systems.source.state.failing, "streams that still fail").to.equal(0);
    });
  }
});

const sorted = (texts: Record<string, string>): [string, string][] => Object.entries(texts).sort();
