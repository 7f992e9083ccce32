import type { ApiError, JsonObject } from "@virtual-workspaces/apimachinery";
import { applyStrategicMergePatch, hasPatchStrategy } from "@virtual-workspaces/apimachinery/patch";
import { expect } from "chai";
import { computed } from "../../_support/cpu.ts";
import { deploymentSchema, podSchema } from "./pod-schema.ts";
import { expectJson, outcomeOf, type Recorded, recorded, titleOf } from "./recorded.ts";

const pairs = recorded("strategic.snapshot.json");

describe("strategic merge patches, as Kubernetes applies them", () => {
  it("have recordings", () => expect(pairs.length).to.be.greaterThan(150));

  for (const pair of pairs) {
    it(titleOf(pair), () => {
      const { doc, patch, type, code } = pair;
      const schema = type === "Deployment" ? deploymentSchema : podSchema;
      const { result, error } = outcomeOf(() => applyStrategicMergePatch(doc, patch, schema), doc, patch);
      // Kubernetes answers 500 for some invalid patches.
      expect(error?.code ?? 200, error?.message).to.equal(code === 500 ? 400 : code);
      if (error === undefined) expectJson(result, pair.result);
      else expectRefusal(error, pair);
    });
  }

  it("name the path in the object", () => {
    const patch = { spec: { containers: [{ name: "a", env: [{ value: "1" }] }] } };
    const document = { spec: { containers: [{ name: "a", env: [{ name: "X" }] }] } };
    const { error } = outcomeOf(() => applyStrategicMergePatch(document, patch, podSchema));
    expect(error?.message).to.equal("an item does not contain the declared merge key name: spec.containers[0].env");
  });

  it("accept an order for an empty list, where Kubernetes fails", () => {
    const patch = { spec: { "$setElementOrder/containers": [{ name: "a" }] } };
    expect(applyStrategicMergePatch({ spec: { containers: [] } }, patch, podSchema)).to.deep.equal({
      spec: { containers: [] },
    });
  });

  it("merge objects that the schema does not name, and replace lists", () => {
    const document = { spec: { own: { a: 1, list: [{ name: "a" }] } } };
    const patch = { spec: { own: { b: 2, list: [{ name: "b" }] } } };
    expect(applyStrategicMergePatch(document, patch, podSchema)).to.deep.equal({
      spec: { own: { a: 1, b: 2, list: [{ name: "b" }] } },
    });
  });

  it("share unchanged parts", () => {
    const document: JsonObject = {
      metadata: { labels: { a: "b" } },
      spec: { containers: [{ name: "a" }, { name: "b" }] },
    };
    const result = applyStrategicMergePatch(document, { spec: { containers: [{ name: "b", image: "x" }] } }, podSchema);
    expect(result["metadata"]).to.equal(document["metadata"]);
  });

  it("process long lists quickly", () => {
    const names = Array.from({ length: 50_000 }, (_, at) => ({ name: `n${at}` }));
    const patch = { spec: { containers: [...names].reverse(), "$setElementOrder/containers": [...names].reverse() } };
    const started = computed();
    const result = applyStrategicMergePatch({ spec: { containers: names } }, patch, podSchema);
    expect(computed() - started).to.be.lessThan(1_000);
    expect((result["spec"] as { containers: unknown[] }).containers[0]).to.deep.equal({ name: "n49999" });
  });
});

function expectRefusal({ message, reason, status }: ApiError, { code, error = "" }: Recorded): void {
  expect(reason).to.equal(code === 422 ? "Invalid" : "BadRequest");
  if (code === 422) expect(status.details?.causes?.[0]?.message).to.equal(error);
  if (code === 400) expect(message).to.satisfy((text: string) => text.startsWith(error), `${message}, not ${error}`);
}

describe("hasPatchStrategy", () => {
  it("finds the keyword at any depth", () => {
    expect(hasPatchStrategy(podSchema)).to.equal(true);
    expect(hasPatchStrategy({ type: "object", additionalProperties: podSchema })).to.equal(true);
    expect(hasPatchStrategy({ type: "array", items: podSchema })).to.equal(true);
    expect(hasPatchStrategy({ type: "object", properties: { a: { type: "string" } } })).to.equal(false);
  });
});
