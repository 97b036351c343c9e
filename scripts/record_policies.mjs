// Asks the policy engine of the installed Gemini CLI about the worlds and calls in a file; answers in another.
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const [, , core, defaults, asked, answered] = process.argv;
const { PolicyEngine, createPolicyEngineConfig } = await import(pathToFileURL(core).href);
const answers = [];
for (const world of JSON.parse(readFileSync(asked, 'utf8'))) {
  const config = await createPolicyEngineConfig(world.settings, world.mode, defaults, world.interactive);
  const engine = new PolicyEngine({ ...config, isTrustedFolder: () => world.trusted });
  for (const call of world.calls) {
    const { decision } = await engine.check(
      { name: call.name, args: call.arguments }, undefined, call.annotations, call.subagent);
    answers.push(decision);
  }
}
writeFileSync(answered, JSON.stringify(answers));
