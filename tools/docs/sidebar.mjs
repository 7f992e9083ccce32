// Why: the order of the pages is written in one place, docs/sidebar.yaml. What it lists and is not there, and what is there and it
// does not list, are faults: a page that no sidebar shows is not found.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { titleOf } from "./titles.mjs";

/** The home page is in no sidebar. */
const HOME = "index";

/**
 * @typedef {{ text: string, link?: string, collapsed?: boolean, items?: SidebarItem[] }} SidebarItem
 * @typedef {string | { [title: string]: Entry[] }} Entry
 */

/** The pages of the folder docs, without `.md`. @param {string} docs @returns {string[]} */
export function pagesOf(docs) {
  return globSync("**/*.md", { cwd: docs })
    .map((file) => file.replaceAll("\\", "/").replace(/\.md$/, ""))
    .filter((page) => page !== HOME && !page.startsWith("reference/api/"))
    .sort();
}

/** The parts of docs/sidebar.yaml and their entries, each `*` replaced by the pages that nothing else lists. @param {string} docs @param {readonly string[]} pages @returns {Record<string, Entry[]>} */
function partsOf(docs, pages) {
  /** @type {Record<string, Entry[]>} */
  const parts = parse(readFileSync(join(docs, "sidebar.yaml"), "utf8"));
  const named = Object.values(parts).flatMap(listed);
  /** @param {Entry} entry @returns {Entry[]} */
  const one = (entry) => {
    if (typeof entry !== "string")
      return [Object.fromEntries(Object.entries(entry).map(([title, below]) => [title, below.flatMap(one)]))];
    if (!entry.endsWith("/*")) return [entry];
    const folder = entry.slice(0, -1);
    return pages.filter(
      (page) => page.startsWith(folder) && !page.slice(folder.length).includes("/") && !named.includes(page),
    );
  };
  return Object.fromEntries(Object.entries(parts).map(([title, entries]) => [title, entries.flatMap(one)]));
}

/** @param {readonly Entry[]} entries @returns {string[]} */
function listed(entries) {
  return entries.flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry).flatMap(listed)));
}

/** What is wrong with the list, a sentence each. @param {string} docs @returns {string[]} */
export function sidebarFaults(docs) {
  const pages = pagesOf(docs);
  const places = Object.values(partsOf(docs, pages)).flatMap(listed);
  return [
    ...pages
      .filter((page) => !places.includes(page))
      .map((page) => `docs/${page}.md has no place in docs/sidebar.yaml: add it to the part that it belongs to`),
    ...places
      .filter((page) => !pages.includes(page))
      .map((page) => `docs/sidebar.yaml lists ${page}, but there is no docs/${page}.md: remove or rename the entry`),
    ...places
      .filter((page, at) => places.indexOf(page) !== at)
      .map((page) => `docs/sidebar.yaml lists ${page} twice: remove one of the two entries`),
  ];
}

/** A section of the sidebar for each part. @param {string} docs @returns {SidebarItem[]} */
export function sidebarOf(docs) {
  /** @param {Entry} entry @returns {SidebarItem[]} */
  const items = (entry) =>
    typeof entry === "string"
      ? [{ text: titleOf(join(docs, `${entry}.md`)), link: `/${entry}` }]
      : Object.entries(entry).map(([text, below]) => ({ text, collapsed: true, items: below.flatMap(items) }));
  return Object.entries(partsOf(docs, pagesOf(docs))).map(([text, entries]) => ({
    text,
    collapsed: false,
    items: entries.flatMap(items),
  }));
}
