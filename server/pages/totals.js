// Counts the total anew, without the card, when what it depends on changes. What was typed stays.
(() => {
	const form = document.getElementById('payment'), update = form.querySelector('button[value=update]'), all = (selector, page) => (page || document).querySelectorAll(selector);
	const parts = '#totals, .goods .amount, .goods small, .pay span', needs = page => all('[autocomplete=cc-number], #card', page).length;
	let latest = 0;
	const count = (typed, or) => {
		const sent = new URLSearchParams({do: 'update'}), mine = ++latest;
		[...form.querySelectorAll(':scope > input:not([name=payment_method], [name=do]), fieldset:first-of-type :is(select, details input)'), ...typed].forEach(input => sent.append(input.name, input.value));
		fetch(form.action, {method: 'POST', body: sent}).then(answer => {
			if (!answer.ok) { throw answer; }
			return answer.text();
		}).then(text => {
			const page = new DOMParser().parseFromString(text, 'text/html'), ours = all(parts), theirs = all(parts, page), total = page.querySelector('#payment [name=shown]');
			if (mine !== latest) { return; }
			if (!total || ours.length !== theirs.length || document.forms.length !== page.forms.length || needs() !== needs(page)) { throw page; }
			ours.forEach((part, i) => part.replaceChildren(...theirs[i].childNodes));
			all('[name=shown]').forEach(input => { input.value = total.value; });
			update.hidden = true;
		}).catch(() => mine === latest && or());
	};
	update.hidden = true;
	form.addEventListener('change', event => {
		if (event.target.closest('fieldset:first-of-type :is(select, details)')) { count([], () => { update.hidden = false; }); } // which says what is wrong
	});
	all('.code').forEach(code => code.addEventListener('submit', event => {
		const typed = code.querySelectorAll('input:not([type=hidden])');
		event.preventDefault();
		count(typed, () => {
			typed.forEach(input => input.setAttribute('form', form.id));
			form.requestSubmit(update);
			typed.forEach(input => input.removeAttribute('form'));
		});
	}));
})();
