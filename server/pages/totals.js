{
	const all = (selector, page = document) => [...page.querySelectorAll(selector)], [form] = all('#payment'), [update] = all('#payment [value=update]'), [pay] = all('.pay');
	const parts = '#totals, #waiver, .fold b, .goods .amount, .goods small, .pay span', needs = page => all('form, [autocomplete=cc-number], #card', page).length;
	const costly = 'fieldset:first-of-type :is(select, details input), .goods input';
	let latest = 0;
	const count = async (typed, or) => {
		const mine = ++latest, sent = [...all('#payment > input:not([name=payment_method], [name=do]), ' + costly), ...typed];
		try {
			const answer = await fetch(form.action, {method: 'POST', body: new URLSearchParams([['do', 'count'], ...sent.map(input => [input.name, input.value])])});
			const page = new DOMParser().parseFromString(await answer.text(), 'text/html'), theirs = all(parts, page), [shown, filled] = all('[name=shown], [name=filled]', page);
			if (mine !== latest) { return; }
			if (!answer.ok || !shown || all(parts).length !== theirs.length || needs() !== needs(page)) { throw 0; }
			all(parts).forEach((part, i) => part.isEqualNode(theirs[i]) || part.replaceChildren(...theirs[i].childNodes));
			form.shown.value = shown.value;
			form.filled.value = filled.value;
			update.hidden = true;
			sent.forEach(input => {
				input.ariaInvalid = null;
				all(`[id="${input.id}-problem"], li:has([href="#${input.id}"])`).forEach(said => said.remove());
			});
			all('.problems:not(:has(li))').forEach(box => { box.remove(); document.title = page.title; });
		} catch { mine === latest && or(); }
	};
	update.hidden = true;
	onchange = e => e.target.matches(costly) && count([], () => { update.hidden = false; });
	form.addEventListener('submit', e => {
		const by = e.submitter, enters = by.value === 'enter', code = (enters ? document.activeElement : by).closest('.code');
		if (code) { count(all('input', code), () => form.requestSubmit(update)); }
		if (code || enters && !form.reportValidity()) { return e.preventDefault(); }
		pay.ariaBusy = by !== update;
	});
	onpageshow = () => { pay.ariaBusy = null; };
}
