import { guideTests } from "./support/guide.ts";

guideTests("how-to/across-spaces", "how-to/space-providers", "how-to/stores");
