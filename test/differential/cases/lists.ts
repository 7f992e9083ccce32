import { type Topic, topic } from "../step.ts";
import { card1, card2, card3 } from "./cards.ts";
import { card, plain } from "./kinds.ts";

const cards = [card1, card2, card3];
const labels = (...selectors: string[]) =>
  selectors.map((selector) => card.list(`labelSelector=${encodeURIComponent(selector)}`));
const fields = (...selectors: string[]) =>
  selectors.map((selector) => card.list(`fieldSelector=${encodeURIComponent(selector)}`));

export const SELECTORS: Topic = topic("selectors", {
  "of labels": [
    ...cards,
    ...labels(
      "env=dev",
      "env==prod",
      "env!=dev",
      "env in (dev, prod)",
      "env notin (dev)",
      "tier",
      "!tier",
      "env=prod,tier=2",
      "",
      "tier>1",
      "tier<2",
      "env=",
      "none=x",
      "env in (dev),tier notin (2)",
    ),
  ],
  "of labels, malformed": labels(
    "=x",
    "env in dev",
    "env in ()",
    "!!x",
    "env=a b",
    "bad key!=x",
    "env>x",
    "a,,b",
    ",",
    "env=dev,",
    "x".repeat(64),
    `env=${"v".repeat(64)}`,
    "in",
    "notin (a)",
    "env in (a",
    "env===x",
  ),
  "of fields": [
    ...cards,
    ...fields(
      "metadata.name=a",
      "metadata.name!=a",
      "metadata.name==b",
      "spec.color=red",
      "spec.color!=red",
      "spec.color=",
      "spec.size=10",
      "spec.bold=true",
      "spec.bold=false",
      "spec.color=red,spec.size=1",
      "",
      "metadata.name=a,metadata.name=b",
      "spec.color=RED",
    ),
  ],
  "of fields that are not selectable": fields(
    "spec.text=one",
    "metadata.labels.env=dev",
    "status.phase=x",
    "metadata.namespace=ns",
    "nothing=x",
    "metadata.uid=x",
    "kind=Card",
  ),
  "of fields, malformed": fields(
    "x",
    "=x",
    "a=b=c",
    "spec.color in (red)",
    ",",
    "spec.color=red,",
    "spec.color\\=red",
    "!x",
    "spec.color=a\\,b",
    "spec.color=a\\",
  ),
  "of both": [
    ...cards,
    card.list("labelSelector=env%3Dprod&fieldSelector=spec.color%3Dblue"),
    card.list("labelSelector=env%3Dprod&fieldSelector=x"),
  ],
  "given twice": [...cards, card.list("labelSelector=env%3Ddev&labelSelector=env%3Dprod")],
  "of a namespaced kind": [
    plain.make("a"),
    plain.make("b", {}, { namespace: "other" }),
    plain.list("fieldSelector=metadata.namespace%3Dns", { namespace: "" }),
    plain.list("fieldSelector=metadata.namespace%3Dother"),
    plain.list("fieldSelector=metadata.name%3Db", { namespace: "" }),
    plain.list(undefined, { namespace: "" }),
    plain.list(undefined, { namespace: "empty" }),
    plain.list("fieldSelector=spec.text%3Dx"),
  ],
});

const page = (query: string, as = "page") => card.list(query, { as });

export const LISTS: Topic = topic("lists", {
  "of nothing": [card.list()],
  "in order": [
    card.make("b", { spec: { text: "x" } }),
    card.make("a", { spec: { text: "x" } }),
    card.make("a.b", { spec: { text: "x" } }),
    card.make("a-b", { spec: { text: "x" } }),
    card.list(),
  ],
  "in order of namespaces": [
    plain.make("z", {}, { namespace: "a" }),
    plain.make("a", {}, { namespace: "b" }),
    plain.make("a", {}, { namespace: "a-b" }),
    plain.list(undefined, { namespace: "" }),
  ],
  "in pages": [...cards, page("limit=2"), page("limit=2&continue=$(page.metadata.continue)", "next")],
  "in pages of one": [
    ...cards,
    page("limit=1"),
    page("limit=1&continue=$(page.metadata.continue)"),
    page("limit=1&continue=$(page.metadata.continue)"),
  ],
  "in pages, all fit": [...cards, page("limit=3"), page("limit=100"), page("limit=0"), page("limit=-1")],
  "in pages with selectors": [
    ...cards,
    page("limit=1&labelSelector=env"),
    page("limit=1&labelSelector=env&continue=$(page.metadata.continue)"),
    page("limit=1&fieldSelector=spec.color!%3Dblue"),
  ],
  "in pages while objects change": [
    ...cards,
    page("limit=2"),
    card.make("bb", { spec: { text: "between" } }),
    card.make("cc", { spec: { text: "after" } }),
    card.delete("c"),
    page("limit=2&continue=$(page.metadata.continue)", "next"),
    card.list(),
  ],
  "in pages, malformed": [
    page("limit=x"),
    page("limit=1.5"),
    page("limit=1&continue=nonsense"),
    page("continue=nonsense"),
    page("limit=99999999999999999999"),
  ],
  "in pages with a version": [
    ...cards,
    page("limit=1"),
    page("limit=1&continue=$(page.metadata.continue)&resourceVersion=$(a.metadata.resourceVersion)"),
    page("limit=1&continue=$(page.metadata.continue)&resourceVersion=0"),
  ],
  "at version 0": [
    ...cards,
    card.list(),
    card.list("resourceVersion=0"),
    card.list("resourceVersion=0&limit=1"),
    card.list("resourceVersion=0&resourceVersionMatch=NotOlderThan"),
  ],
  "at a version": [
    ...cards,
    card.list(),
    card.list("resourceVersion=$(a.metadata.resourceVersion)"),
    card.list("resourceVersion=$(c.metadata.resourceVersion)&resourceVersionMatch=NotOlderThan"),
  ],
  "at an exact version": [
    ...cards,
    card.list(),
    card.list("resourceVersion=$(c.metadata.resourceVersion)&resourceVersionMatch=Exact"),
    card.list("resourceVersion=$(a.metadata.resourceVersion)&resourceVersionMatch=Exact"),
  ],
  "with malformed versions": [
    card.list("resourceVersion=abc"),
    card.list("resourceVersion=-1"),
    card.list("resourceVersionMatch=Exact"),
    card.list("resourceVersion=0&resourceVersionMatch=Exact"),
    card.list("resourceVersion=1&resourceVersionMatch=Nearly"),
    card.list("resourceVersionMatch=NotOlderThan"),
  ],
  "get at a version": [
    card1,
    // A list waits until the oracle's cache has the object, which answers a get at version 0.
    card.list(),
    card.get("a", { query: "resourceVersion=0" }),
    card.get("a", { query: "resourceVersion=$(a.metadata.resourceVersion)" }),
    card.get("a", { query: "resourceVersion=abc" }),
  ],
  "with sendInitialEvents": [
    card.list("sendInitialEvents=true"),
    card.list("sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
  ],
  "with other options": [
    ...cards,
    card.list("pretty=true&timeoutSeconds=10&allowWatchBookmarks=true&watch=false&nothing=1"),
    card.list("timeoutSeconds=x"),
    { watch: card.path("", { query: "watch=maybe&timeoutSeconds=1" }), as: "w" },
    { watch: card.path("", { query: "watch=&timeoutSeconds=1" }), as: "v" },
    { watch: card.path("", { query: "watch=0&timeoutSeconds=1" }), as: "u" },
    { watch: card.path("", { query: "watch=False&timeoutSeconds=1" }), as: "t" },
  ],
  "get with other options": [
    card1,
    card.get("a", { query: "pretty=true" }),
    card.get("a", { query: "exact=true&export=true" }),
    card.get("b"),
    card.get("A_b"),
  ],
});
