import { show } from "../../conformance/difference.ts";
import { fail } from "../../conformance/outcome.ts";
import type { ToldSpace } from "../bodies.ts";
import type { ProviderCheck } from "../check.ts";
import type { ProviderProbe } from "../probe.ts";

/** So many spaces are looked at one by one. */
const LOOKED_AT = 20;

/** P2: lists, and spaces by their names. */
export const listChecks: readonly ProviderCheck[] = [
  {
    id: "P2.1",
    title: "a list has spaces in the order of their names, each once",
    protects: "pages leave spaces out, which are then taken for deleted",
    run: async (probe) => {
      const { answer, spaces } = await probe.list();
      const names = spaces.map(({ name }) => name);
      const wrong = names.find((name, at) => at > 0 && name <= (names[at - 1] ?? ""));
      if (wrong !== undefined) fail(answer.request, "names that grow", show(names));
    },
  },
  {
    id: "P2.2",
    title: "a space is by its name as it is in the list",
    protects: "a space is taken for deleted, or for another one",
    run: async (probe) => {
      for (const space of (await probe.list()).spaces.slice(0, LOOKED_AT)) await isThere(probe, space);
    },
  },
  {
    id: "P2.3",
    title: "pages have together what the list has, and each no more than was asked for",
    protects: "spaces that are on no page are taken for deleted",
    run: pagesAgree,
  },
  {
    id: "P2.4",
    title: "a limit and a page that are none are refused",
    protects: "a list begins anew, or ends early, without a word",
    run: async (probe) => {
      for (const query of [{ limit: "many" }, { limit: -1 }, { limit: 1, continue: "conformance no page" }])
        probe.bodies.refusal(await probe.call("/v1/spaces", { query }), [400, 410]);
    },
  },
];

/** One that has gone meanwhile is nobody's fault. */
async function isThere(probe: ProviderProbe, listed: ToldSpace): Promise<void> {
  const answer = await probe.space(listed.name);
  if (answer.status === 404) {
    const { spaces } = await probe.list();
    if (spaces.some(({ name }) => name === listed.name)) fail(answer.request, "the space, which is listed", "404");
    return;
  }
  const { name, id } = probe.bodies.ok("Space", answer) as unknown as ToldSpace;
  if (name !== listed.name) fail(answer.request, show({ name: listed.name }), show({ name }));
  if (id === listed.id) return;
  const again = (await probe.list()).spaces.find((one) => one.name === name);
  if (again?.id !== id) fail(answer.request, show({ id: again?.id }), show({ id }));
}

async function pagesAgree(probe: ProviderProbe): Promise<void> {
  // Others may make and delete spaces meanwhile: what is there before and after is on a page.
  const before = new Set((await probe.list()).spaces.map(({ name }) => name));
  const limit = Math.max(1, Math.ceil(before.size / 3));
  const paged = new Set<string>();
  let last = "";
  let next: string | undefined;
  do {
    const { answer, spaces, more } = await probe.list({ limit, continue: next });
    if (spaces.length > limit) fail(answer.request, `${limit} spaces at most`, `${spaces.length}`);
    if (more !== undefined && spaces.length === 0) fail(answer.request, "a space, as there are more", "none");
    for (const { name } of spaces) {
      if (name <= last) fail(answer.request, `names behind ${show(last)}`, show(name));
      paged.add(name);
      last = name;
    }
    next = more;
  } while (next !== undefined);
  const { answer, spaces } = await probe.list();
  const missing = spaces.find(({ name }) => before.has(name) && !paged.has(name));
  if (missing !== undefined) fail(answer.request, `${show(missing.name)} on a page, as in the list`, show([...paged]));
}
