import type { JsonSchema } from "@virtual-workspaces/apimachinery";
import { cloneJson } from "@virtual-workspaces/apimachinery/json";
import { compileSchema, ruleField, ruleSites } from "@virtual-workspaces/apimachinery/schema";
import { expect } from "chai";
import { load } from "./cases.ts";

const RULES = [{ rule: "self == self" }];

describe("rules", () => {
  for (const { name, schema, object, old, faults, uncorrelatable } of load("rules")) {
    it(`apply at the same sites as in Kubernetes: ${name}`, () => {
      const compiled = compileSchema(schema);
      const value = cloneJson(object);
      compiled.prune(value);
      compiled.setDefaults(value);
      // Recorded with three rules at each site: one that always fails, and two that fail if there is an old value.
      const found = [...compiled.rules(value, old)].flatMap((site) => [
        ...(site.unchanged ? [] : [`${ruleField(site)}: plain`]),
        ...(site.oldSelf === undefined ? [] : [`${ruleField(site)}: old`]),
        `${ruleField(site)}: optional`,
      ]);
      expect([...new Set(found)].sort()).to.deep.equal(faults);
      const places = ruleSites(schema).filter((site) => site.uncorrelatable !== undefined);
      const words = places.flatMap(({ path, uncorrelatable: list }) =>
        [1, 2].map((at) => `${path}.x-kubernetes-validations[${at}].rule ${list}`),
      );
      expect(words.sort()).to.deep.equal(uncorrelatable);
    });
  }

  const schema: JsonSchema = {
    type: "object",
    "x-kubernetes-validations": RULES,
    properties: {
      spec: {
        type: "object",
        properties: {
          ports: {
            type: "array",
            maxItems: 10,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              properties: { name: { type: "string" }, port: { type: "integer", "x-kubernetes-validations": RULES } },
            },
          },
          map: { type: "object", additionalProperties: { type: "string", "x-kubernetes-validations": RULES } },
          pod: {
            type: "object",
            "x-kubernetes-embedded-resource": true,
            "x-kubernetes-preserve-unknown-fields": true,
            "x-kubernetes-validations": RULES,
          },
        },
      },
    },
  };

  it("have value, old value and field, parents first", () => {
    const old = {
      spec: {
        ports: [
          { name: "b", port: 2 },
          { name: "a", port: 1 },
        ],
        map: { k: "v", l: null },
      },
    };
    const object = {
      spec: {
        ports: [
          { name: "a", port: 5 },
          { name: "b", port: 2 },
        ],
        map: { k: "v", l: "w" },
        pod: {},
      },
    };
    const sites = [...compileSchema(schema).rules(object, old)];
    expect(sites.map((site) => [site.path, site.self, site.oldSelf, site.unchanged, site.resourceRoot])).to.deep.equal([
      ["", object, old, false, true],
      ["spec.ports[0].port", 5, 1, false, false],
      ["spec.ports[1].port", 2, 2, true, false],
      ["spec.map[k]", "v", "v", true, false],
      ["spec.map[l]", "w", undefined, false, false],
      ["spec.pod", {}, undefined, false, true],
    ]);
    const [root, port] = sites;
    if (root === undefined || port === undefined) throw new Error("no sites");
    expect(ruleField(root)).to.equal("<nil>");
    expect(ruleField(root, "spec.x")).to.equal("spec.x");
    expect(ruleField(port, "x")).to.equal("spec.ports[0].port.x");
    expect(root.rules).to.equal(RULES);
    expect(root.schema).to.equal(schema);
  });

  it("cost nothing without rules, and skip null", () => {
    const plain = compileSchema({ type: "object", properties: { spec: { type: "string" } } });
    expect(plain.hasRules).to.equal(false);
    expect([...plain.rules({ spec: "x" })]).to.deep.equal([]);
    expect(compileSchema(schema).hasRules).to.equal(true);
    expect([...compileSchema(schema).rules({ spec: { map: { a: null } } })].map(({ path }) => path)).to.deep.equal([
      "",
    ]);
  });

  it("are listed with the maximum number of their values", () => {
    expect(ruleSites(schema).map((site) => [site.path, site.maxCardinality, site.resourceRoot])).to.deep.equal([
      ["", 1, true],
      ["properties[spec].properties[ports].items.properties[port]", 10, false],
      ["properties[spec].properties[map].additionalProperties", undefined, false],
      ["properties[spec].properties[pod]", 1, true],
    ]);
  });
});
