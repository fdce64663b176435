/** The Git engine as the controllers use it: fetch, preview, commit, push, on a mirror that is kept between promotions. */
import { createGit } from '../../src/adapters/git/index.ts';
import { type Outcome, transient } from '../../src/api/outcome.ts';
import { compileEdit } from '../../src/core/edit/compile-edit.ts';
import type { Log } from '../../src/ports/log.ts';
import { preciseClock } from '../precise-clock.ts';
import { imageOf, overlayFolder } from '../sample/manifests.ts';
import { BRANCH } from '../sample/remote.ts';
import { type Prepare, type Promotion, timed } from './contender.ts';

/** The value, or an error that ends the benchmark. */
export const expectDone = <T>(outcome: Outcome<T>): T => {
  if (outcome.outcome === 'done') return outcome.value;
  throw new Error(`${outcome.reason.code}: ${outcome.reason.message}`);
};

const planOf = ({ app, environment, tag }: Promotion) => {
  const images = [{ repository: imageOf(app), tag }];
  const run = `bench-${app}/${environment}/${tag}`;
  return {
    edit: compileEdit({ edit: 'overlay', path: overlayFolder(app, environment), images }),
    run,
    message: `Promote ${app} to ${environment}\n\nPromoter-Run: ${run}\n`,
    time: Math.floor(Date.now() / 1000) * 1000,
  };
};

/** Makes the engine and its mirror. */
export const prepareOurs =
  (log: Log): Prepare =>
  async (remote, directory) => {
    let networking = 0;
    const git = expectDone(
      await createGit({
        directory,
        secrets: { read: async () => transient('SecretMissing', 'no secrets here') },
        clock: preciseClock,
        log,
        allowFileUrls: true,
        onProcess: ({ command, milliseconds }) => {
          if (command !== 'cat-file') networking += milliseconds;
        },
      }),
    );
    const repository = { url: remote.url };
    expectDone(await git.fetch(repository, BRANCH));
    return {
      promote: async (promotion) => {
        const plan = planOf(promotion);
        networking = 0;
        const total = await timed(async () => {
          const { tip } = expectDone(await git.fetch(repository, BRANCH));
          expectDone(await git.preview(repository, tip, plan.edit));
          expectDone(await git.commit(repository, tip, plan));
          const intent = { ...plan, branch: BRANCH, since: tip, notBefore: plan.time };
          const pushed = expectDone(await git.push(repository, intent, async () => true));
          if (pushed.result !== 'landed') throw new Error(`the push ended as ${pushed.result}`);
        });
        return { total, own: total - networking };
      },
      close: () => git.close(),
    };
  };
