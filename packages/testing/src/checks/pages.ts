import { expectSame, expectStatus, fail, skip } from "../assertions/expect.ts";
import { at, show } from "../assertions/json.ts";
import { keyOf, type List, versionsByKey } from "../assertions/objects.ts";
import type { ResourceCheck, ResourceProbe } from "./check.ts";
import { Changes } from "./check.ts";

const scope = "resource";
const verbs = ["list"] as const;
const BAD_REQUEST = { codes: [400], reasons: ["BadRequest"] };

/** T3, continued: lists in pages. */
export const pageChecks: readonly ResourceCheck[] = [
  {
    id: "T3.10",
    title: "pages have one version and together contain the list",
    protects: "kubectl, which pages by 500, shows objects twice or not at all",
    scope,
    verbs,
    run: pagesAreTheList,
  },
  {
    id: "T3.11",
    title: "remainingItemCount, if given, is the number of remaining items",
    protects: "the progress that users see is wrong",
    scope,
    verbs,
    run: remaining,
  },
  {
    id: "T3.12",
    title: "a malformed continue token, and one together with a resourceVersion, gets 400",
    protects: "a client that mixes up its tokens gets the first page again and again",
    scope,
    verbs,
    run: badTokens,
  },
  {
    id: "T3.13",
    title: "pages keep the version of the first one while objects change",
    protects: "a paged list is a state that never existed",
    scope,
    verbs,
    mutates: true,
    run: pagesStay,
  },
  {
    id: "T3.14",
    title: "resourceVersionMatch=Exact returns the past state after a change",
    protects: "a comparison of versions misses differences",
    scope,
    verbs,
    mutates: true,
    run: exactPast,
  },
];

async function pagesAreTheList(probe: ResourceProbe): Promise<void> {
  await probe.listOf(2);
  await probe.undisturbed(async () => {
    const whole = await probe.list();
    const pages = await allPages(probe, await firstPage(probe, Math.ceil(whole.items.length / 4)));
    expectSamePages(pages, whole);
  });
}

async function pagesStay(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const made = [await changes.create(), await changes.create(), await changes.create()];
  const before = await probe.list();
  const first = await firstPage(probe, 1);
  for (const name of made.slice(1)) await changes.delete(name);
  await changes.create();
  expectSamePages(await allPages(probe, first), before);
}

function expectSamePages(pages: readonly List[], whole: List): void {
  const [first] = pages;
  for (const page of pages) {
    expectSame(page.answer.request, "metadata.resourceVersion", {
      expected: first?.resourceVersion,
      actual: page.resourceVersion,
    });
  }
  const last = pages.at(-1) ?? whole;
  expectSame(last.answer.request, "objects of all pages, in order", {
    expected: whole.items.map(keyOf),
    actual: pages.flatMap(({ items }) => items.map(keyOf)),
  });
}

async function remaining(probe: ResourceProbe): Promise<void> {
  await probe.listOf(2);
  await probe.undisturbed(async () => {
    const whole = await probe.list();
    const { answer, document } = await firstPage(probe, 1);
    const told = at(document, "metadata", "remainingItemCount");
    if (told === undefined) return;
    expectSame(answer.request, "metadata.remainingItemCount", { expected: whole.items.length - 1, actual: told });
  });
}

async function badTokens(probe: ResourceProbe): Promise<void> {
  expectStatus(await probe.answer({ limit: 1, continue: "no token" }), BAD_REQUEST);
  await probe.listOf(2);
  const { continue: token, resourceVersion } = await firstPage(probe, 1);
  expectStatus(await probe.answer({ limit: 1, continue: token, resourceVersion }), BAD_REQUEST);
}

async function exactPast(probe: ResourceProbe): Promise<void> {
  await using changes = new Changes(probe);
  const before = await probe.versionedList();
  await changes.create();
  const { answer, items, resourceVersion } = await probe.list({
    resourceVersion: before.resourceVersion,
    resourceVersionMatch: "Exact",
  });
  expectSame(answer.request, "metadata.resourceVersion", { expected: before.resourceVersion, actual: resourceVersion });
  expectSame(answer.request, "objects", { expected: versionsByKey(before.items), actual: versionsByKey(items) });
}

async function firstPage(probe: ResourceProbe, limit: number): Promise<List> {
  const page = await probe.list({ limit });
  // The API allows servers to return all items at once.
  if (page.continue === "" && page.items.length > limit) skip("the server does not page");
  if (page.items.length > limit)
    fail(page.answer.request, `at most ${limit} items`, `${page.items.length} and a continue token`);
  if (page.continue === "") fail(page.answer.request, "a continue token", show(at(page.document, "metadata")));
  return page;
}

async function allPages(probe: ResourceProbe, first: List): Promise<readonly List[]> {
  const pages = [first];
  const limit = first.items.length;
  for (let page = first; page.continue !== ""; pages.push(page)) {
    page = await probe.list({ limit, continue: page.continue });
    if (page.items.length === 0 && page.continue !== "")
      fail(page.answer.request, "items or no continue token", "neither");
  }
  return pages;
}
