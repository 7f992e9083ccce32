import { kind } from "./kind.ts";

/** Kind with CEL rules. */
export const RULED = kind({
  kind: "Ruled",
  scope: "Namespaced",
  schema: {
    type: "object",
    "x-kubernetes-validations": [{ rule: "self.metadata.name.startsWith('r')", message: "names start with r" }],
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": [
          { rule: "!has(self.min) || !has(self.max) || self.min <= self.max", message: "min must not exceed max" },
          {
            rule: "!has(self.size) || self.size < 10",
            messageExpression: "'size must be below ten' + (has(self.code) ? ', code ' + self.code : '')",
          },
          { rule: "!has(self.code) || self.code.size() == 3", reason: "FieldValueForbidden", fieldPath: ".code" },
          {
            rule: "!has(oldSelf.pin) || has(self.pin)",
            message: "pin cannot be removed",
            reason: "FieldValueRequired",
          },
        ],
        properties: {
          min: { type: "integer" },
          max: { type: "integer" },
          size: { type: "integer" },
          code: { type: "string", maxLength: 10 },
          pin: {
            type: "string",
            maxLength: 20,
            "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "pin is immutable" }],
          },
          grow: {
            type: "integer",
            "x-kubernetes-validations": [
              {
                rule: "!oldSelf.hasValue() || self >= oldSelf.value()",
                optionalOldSelf: true,
                messageExpression: "oldSelf.hasValue() ? 'must not shrink' : 'cannot be'",
              },
            ],
          },
          url: {
            type: "string",
            maxLength: 100,
            "x-kubernetes-validations": [
              { rule: "isURL(self) && url(self).getScheme() == 'https'", message: "must be an https URL" },
            ],
          },
          quantity: {
            type: "string",
            maxLength: 30,
            "x-kubernetes-validations": [{ rule: "isQuantity(self) && quantity(self).isLessThan(quantity('1Gi'))" }],
          },
          ip: {
            type: "string",
            maxLength: 50,
            "x-kubernetes-validations": [{ rule: "isIP(self) && ip(self).family() == 4", message: "must be IPv4" }],
          },
          names: {
            type: "array",
            maxItems: 10,
            items: { type: "string", maxLength: 20 },
            "x-kubernetes-validations": [
              { rule: "self.all(n, n.matches('^[a-z]+$'))", message: "names are lower case letters" },
              { rule: "self.isSorted()", reason: "FieldValueInvalid" },
            ],
          },
          people: {
            type: "array",
            maxItems: 10,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            items: {
              type: "object",
              required: ["name"],
              properties: {
                name: { type: "string", maxLength: 20 },
                age: {
                  type: "integer",
                  "x-kubernetes-validations": [{ rule: "self >= oldSelf", message: "nobody gets younger" }],
                },
              },
            },
          },
          choice: {
            type: "object",
            "x-kubernetes-validations": [
              { rule: "[has(self.a), has(self.b)].exists_one(x, x)", message: "one of a and b" },
            ],
            properties: { a: { type: "string", maxLength: 5 }, b: { type: "string", maxLength: 5 } },
          },
          divided: {
            type: "integer",
            "x-kubernetes-validations": [{ rule: "10 / self > 1", message: "ten by it is more than one" }],
          },
          when: {
            type: "string",
            format: "date-time",
            "x-kubernetes-validations": [
              { rule: "self > timestamp('2000-01-01T00:00:00Z')", message: "not so long ago" },
            ],
          },
          percent: {
            "x-kubernetes-int-or-string": true,
            "x-kubernetes-validations": [
              {
                rule: "type(self) == int ? self <= 100 : self.endsWith('%')",
                message: "a number up to 100, or a text with a percent sign",
              },
            ],
          },
        },
      },
    },
  },
});
