// An untrusted rule, pattern or object cannot stall the process: expensive work runs in a worker with a time limit.
import type { JsonObject, JsonSchema } from "@virtual-workspaces/apimachinery";
import { compileSchema } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { RuleEngine, type RuleFindings } from "../../../packages/framework/src/cel/cel-rules.ts";
import { computed } from "../../_support/cpu.ts";
import { Random } from "../../_support/random.ts";

/** Longest computation that may block this thread, in ms. */
const STALL = 50;
const EXHAUSTED = "running out of cost budget";

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at);
const list: JsonSchema = { type: "array", items: { type: "integer" } };
const texts: JsonSchema = { type: "array", items: { type: "string" } };
const text: JsonSchema = { type: "string" };
const PROPERTIES = {
  list,
  texts,
  text,
  pattern: text,
  span: { type: "string", format: "duration" },
  objects: { type: "array", items: { type: "object", properties: { list } } },
} as const;

function schemaWith(rule: string): JsonSchema {
  return { type: "object", properties: { ...PROPERTIES }, "x-kubernetes-validations": [{ rule }] };
}

/** Evaluates a rule, and returns how long this thread was blocked before it first yielded. */
function judge(engine: RuleEngine, rule: string, object: JsonObject): { stall: number; found: Promise<RuleFindings> } {
  const schema = schemaWith(rule);
  const before = computed();
  const rules = engine.compile(schema);
  const found = rules.evaluate(compileSchema(schema).rules(object));
  return { stall: computed() - before, found: Promise.resolve(found) };
}

describe("hostile rules", () => {
  const engine = new RuleEngine({ budget: 300 });
  const random = new Random(7);
  const noise = numbers(100_000)
    .map(() => (random.chance(0.5) ? "a" : "b"))
    .join("");
  const digits = "1".repeat(30_000);
  const as = "a".repeat(30_000);
  const alike = numbers(250).map((at) => ({ list: [...numbers(74), at] }));
  after(() => engine[Symbol.asyncDispose]());

  const CASES: readonly (readonly [name: string, rule: string, object: JsonObject])[] = [
    ["nested loops", "self.list.all(a, self.list.all(b, self.list.all(c, a + b + c >= 0)))", { list: numbers(3000) }],
    [
      "a text that explodes",
      "self.text.replace('', self.text).replace('', self.text) != ''",
      { text: "x".repeat(300) },
    ],
    [
      "a large string created from a small one",
      "self.text.replace('', self.text).size() > 0",
      { text: "x".repeat(3000) },
    ],
    ["joined lists", "self.texts.map(x, self.texts.join(x)).join('') != ''", { texts: numbers(3000).map(String) }],
    ["a pattern that backtracks", "self.text.matches('^(a+)+$')", { text: `${"a".repeat(100_000)}!` }],
    ["a pattern with many states", "self.text.matches('(a|b)*a(a|b){900}$')", { text: noise }],
    ["a pattern from the object", "self.text.matches(self.pattern)", { text: noise, pattern: "(a|b)*a(a|b){900}$" }],
    [
      "many patterns",
      "self.texts.all(x, x.matches('(a|b)*a(a|b){100}c') || true)",
      { texts: numbers(2000).map((at) => noise.slice(at, at + 200)) },
    ],
    [
      "deep equality",
      "self.objects.all(x, self.objects.exists(y, x == y))",
      { objects: numbers(200).map((at) => ({ list: numbers(100).map((n) => n + at) })) },
    ],
    ["ranges", "lists.range(1000000).all(x, lists.range(1000000).all(y, x + y >= 0))", {}],
    ["sorting", "self.texts.sort() == self.texts", { texts: numbers(3000).map(String) }],
    ["a duration without a unit", "duration(self.text) == duration('1s')", { text: digits }],
    ["a duration format in the schema", "self.span == duration('1s')", { span: digits }],
    ["a quantity with an unknown suffix", "isQuantity(self.text)", { text: `${digits}x` }],
    ["an invalid double", "double(self.text) == 1.0", { text: `${digits}x` }],
    ["inner spaces to trim", "self.text.trim() == ''", { text: `x${" ".repeat(30_000)}x` }],
    [
      "a text sought in another",
      "self.text.lastIndexOf(self.pattern) == 0",
      { text: as, pattern: `${as.slice(15_000)}b` },
    ],
    ["many matches that each scan to the end", "self.text.findAll('a(.*b)?') == []", { text: as.slice(0, 8000) }],
    [
      "time zones",
      "self.texts.all(x, timestamp(0).getHours(x) >= 0)",
      { texts: numbers(2000).map(() => "Europe/Paris") },
    ],
    ["repeated list concatenation", "self.list.map(x, self.list + self.list) == []", { list: numbers(3000) }],
    [
      "a list flattened that is many times its source",
      "self.list.map(x, self.list).flatten() == []",
      { list: numbers(3000) },
    ],
    ["repeated list formatting", "self.list.all(x, '%s'.format([self.list]) != '')", { list: numbers(1500) }],
    [
      "objects sought among such as differ late",
      "self.objects.all(x, self.objects.indexOf(x) >= 0)",
      { objects: alike },
    ],
  ];

  for (const [name, rule, object] of CASES) {
    it(`do not block this thread: ${name}`, async () => {
      const { stall, found } = judge(engine, rule, object);
      await found;
      expect(stall).to.be.below(STALL);
    });
  }

  it("are terminated when they never end, and reported as out of budget", async () => {
    const { causes } = await judge(engine, CASES[0]?.[1] ?? "", { list: numbers(5000) }).found;
    expect(causes.map(({ message }) => message)).to.have.length(1);
    expect(causes[0]?.message).to.include(EXHAUSTED);
  });

  it("do not affect the next evaluation after termination", async () => {
    const rule = "self.list.all(x, self.list.exists(y, y == x)) && self.list.size() == 1";
    const { causes } = await judge(engine, rule, { list: numbers(400) }).found;
    expect(causes.map(({ message }) => message)).to.deep.equal([`Invalid value: failed rule: ${rule}`]);
  });

  it("with chains of optMap take time linear in their length", async () => {
    const chain = ".optMap(x, x)".repeat(60);
    const { stall, found } = judge(engine, `self.?text${chain}.hasValue()`, { text: "a" });
    expect((await found).causes).to.deep.equal([]);
    expect(stall).to.be.below(STALL);
  });

  it("are rejected or evaluated when they are deep or long", async () => {
    const deep = `${"(".repeat(5000)}true${")".repeat(5000)}`;
    expect(engine.compile(schemaWith(deep)).problems).to.have.length(1);
    const long = Array.from({ length: 3000 }, () => "true").join(" && ");
    expect((await judge(engine, long, {}).found).causes.length).to.be.below(2);
  });
});
