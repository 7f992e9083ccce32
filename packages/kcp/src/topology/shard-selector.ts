const KEY = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?";
const PREFIX = "[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?";

/** CEL that says whether a text is the key of a label. */
const isKey = (text: string): string =>
  `${text}.contains("/") ? ${text}.split("/", 2)[0].matches("^${PREFIX}$") && ${text}.split("/", 2)[1].matches("^${KEY}$") : ${text}.matches("^${KEY}$")`;

const KEY_MESSAGE = `Label key prefixes are optional and limited to 253 characters. They should match "^${PREFIX}$". Names are limited to 63 characters and should match "^${KEY}$". "/" is used as separator.`;

/** A label selector whose labels and demands are checked when it is written, and not when it is first used. */
export const SHARD_SELECTOR = {
  type: "object",
  description: "Which shards, by their labels. All if missing.",
  "x-kubernetes-map-type": "atomic",
  properties: {
    matchLabels: {
      type: "object",
      maxProperties: 10,
      additionalProperties: { type: "string", maxLength: 380 },
      description: "Labels with the value that they must have.",
      "x-kubernetes-validations": [
        { rule: `self.all(k, ${isKey("k")})`, message: KEY_MESSAGE },
        {
          rule: `self.all(k, self[k].matches("^${KEY}$"))`,
          message: `Label values are limited to 63 characters and should match "^${KEY}$".`,
        },
      ],
    },
    matchExpressions: {
      type: "array",
      maxItems: 10,
      "x-kubernetes-list-type": "atomic",
      description: "Demands on labels.",
      items: {
        type: "object",
        description: "A demand on one label.",
        required: ["key", "operator"],
        properties: {
          key: {
            type: "string",
            maxLength: 317,
            description: "The label.",
            "x-kubernetes-validations": [{ rule: isKey("self"), message: KEY_MESSAGE }],
          },
          operator: {
            type: "string",
            enum: ["In", "NotIn", "Exists", "DoesNotExist"],
            description: "What is demanded.",
          },
          values: {
            type: "array",
            "x-kubernetes-list-type": "atomic",
            items: { type: "string", maxLength: 63, pattern: `^${KEY}$` },
            description: "The values of In and NotIn; none for the others.",
          },
        },
        "x-kubernetes-validations": [
          {
            rule: 'self.operator in ["In", "NotIn"] ? size(self.values) > 0 : (self.operator in ["Exists", "DoesNotExist"] ? !has(self.values) : true)',
            message:
              "There should be at least one value for In and NotIn operators. There should not be any value for Exists and DoesNotExist operators.",
          },
        ],
      },
    },
  },
} as const;
