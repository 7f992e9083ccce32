import { Api } from "../api.ts";
import { kindOf, RULES } from "../kinds/celled.ts";
import { type Topic, topic } from "../step.ts";

export const CEL: Topic = topic(
  "cel",
  Object.fromEntries(
    Object.entries(RULES).map(([field, { values }]) => {
      const api = new Api(kindOf(field));
      return [field, values.map((value) => api.make("x", { spec: { [field]: value } }, { query: "dryRun=All" }))];
    }),
  ),
);
